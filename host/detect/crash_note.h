// The note that a process writes for its successor when a detector crashes it: a file of one page. The handlers of SIGSEGV, SIGBUS,
// SIGFPE, SIGILL, SIGABRT and exit write it on the faulting thread, and only if that thread is inside a detector (CrashContext). The
// signal then takes its normal course, so core dumps, exit statuses and sanitizer reports are unchanged. SIGKILL leaves no note.
#pragma once

#include <filesystem>
#include <optional>

#include "base/result.h"
#include "model/crash_mark.h"

namespace runwarden::detect {

class CrashNote {
 public:
  // Reads the note of the previous process. Empty if there is none. [main]
  static std::optional<model::CrashMark> read(const std::filesystem::path& file);

  // Clears the file and installs the handlers, which stay until the process ends. Call once per process. [main]
  static Status watch(const std::filesystem::path& file);
};

}  // namespace runwarden::detect
