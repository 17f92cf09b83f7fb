// What a process leaves behind when a detector crashes it. The handlers of SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and exit write it on
// the faulting thread, and only if that thread is inside a detector (CrashContext). SIGKILL and _exit leave nothing.
#pragma once

#include <filesystem>
#include <optional>

#include "base/result.h"
#include "model/crash_mark.h"

namespace runwarden::detect {

// The note that a service writes for its successor: a file of one page that names the run being evaluated. Outside of runs, it is the
// message below. The signal then takes its normal course, so core dumps, exit statuses and sanitizer reports are unchanged.
class CrashNote {
 public:
  // Reads the note of the previous process. Empty if there is none. [main]
  static std::optional<model::CrashMark> read(const std::filesystem::path& file);

  // Clears the file and installs the handlers, which stay until the process ends. Call once per process. [main]
  static Status watch(const std::filesystem::path& file);
};

// The message of a command: a line on standard error that names the library and, if it was evaluating one, the run. The process then ends
// with EXIT_FAILURE.
class CrashMessage {
 public:
  // Installs the handlers, which stay until the process ends, unless that was done before. [main]
  static void watch();
};

}  // namespace runwarden::detect
