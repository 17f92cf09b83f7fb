// What a process leaves behind when a detector ends it. Handlers of the signals that end a process, and of exit, write it on the thread
// that is inside a detector (CrashContext); on any other thread, if one call is under way, of that call. What they do not see (SIGKILL,
// _exit, a handler that a detector replaced) leaves the calls that were under way, see crash_file.h. A process forked by a detector leaves
// nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
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
// with EXIT_FAILURE. The command runs in a forked child (cli/command_process.h); its parent writes the message for an end that no handler
// sees. [main], except for finished().
class CrashMessage {
 public:
  // Before the fork: makes the memory in which the parent sees the calls of the child.
  static Status share();

  // In the child: installs the handlers, which stay until the process ends.
  static void watch();
  // In the child, when everything is written: the exit status, whatever a library does from here on. Nothing without share().
  // Async-signal-safe.
  static void finished(int exit_code);

  // In the parent: what the child passed to finished().
  static std::optional<int> exit_code();
  // In the parent: the code of a library, other than evaluate, that the child is inside.
  struct Outside {
    std::string what;  // "detector "dh" (/usr/lib/dh.so) has not returned from create"
    std::int64_t since_ns;
    std::int64_t ms;  // since then
  };
  static std::optional<Outside> outside_of_runs();
  // In the parent: names the calls that were under way when the child ended.
  static void write_for_child();
};

}  // namespace runwarden::detect
