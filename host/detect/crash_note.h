// What a process leaves behind when a detector ends it. Handlers of the signals that end a process, and of exit, write it on the thread
// that is inside a detector (CrashContext); on any other thread, if one call is under way, of that call. What they do not see (SIGKILL,
// _exit, a handler that a detector replaced) leaves the calls that were under way, see crash_file.h. A process forked by a detector leaves
// nothing.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "model/crash_mark.h"

namespace runwarden::detect {

// The signal of an end that no handler saw: _exit, SIGKILL, or a signal whose handler a detector replaced.
constexpr int kUnseenSignal = -1;

// Detectors that ended the previous process, and those that perhaps did.
struct PreviousEnd {
  std::vector<model::CrashMark> crashes;
  // Under way when the process ended, for the first time in a row: a kill from outside leaves the same.
  std::vector<model::CrashMark> suspects;
};

// The note that a service writes for its successor: a file that names the run being evaluated. Outside of runs, it is the message below.
// The signal then takes its normal course, so core dumps, exit statuses and sanitizer reports are unchanged.
class CrashNote {
 public:
  // What the previous process left. A call that was under way at two ends in a row that no handler saw counts as a crash. [main]
  static PreviousEnd read(const std::filesystem::path& path);

  // Installs the handlers, which stay until the process ends. Before the store opens: its own handler recovers from some faults. [main]
  static void install();
  // Begins the file anew; it keeps which calls were under way. Call once per process. [main]
  static Status watch(const std::filesystem::path& path);
  // Call when the process is about to end as it should: calls that have not returned are not to blame. Async-signal-safe.
  static void stopped();
};

// The message of a command: a line on standard error that names the library and, if it was evaluating one, the run. The process then ends
// with EXIT_FAILURE.
class CrashMessage {
 public:
  // Installs the handlers, which stay until the process ends, unless that was done before. Again in a forked child that should have them.
  // [main]
  static void watch();
};

}  // namespace runwarden::detect
