// What a process that is ended by a detector leaves behind for the next one: a file of one page, written by the handlers of SIGSEGV,
// SIGBUS, SIGFPE, SIGILL and SIGABRT and of exit, by the thread at fault and only if it was inside a detector (Suspect). What is done
// with the signal afterwards is what would have been done without this: core dumps, exit statuses and sanitizer reports stay. SIGKILL
// writes nothing: nobody is accused for it.
#pragma once

#include <filesystem>
#include <optional>

#include "base/result.h"
#include "model/records.h"

namespace runwarden::detect {

class CrashNote {
 public:
  // What the last process left in the file; nothing where there is no file. [main]
  static std::optional<model::CrashMark> read(const std::filesystem::path& file);

  // Empties the file and has the handlers write to it from now on, until the process ends. Once per process. [main]
  static Status watch(const std::filesystem::path& file);
};

}  // namespace runwarden::detect
