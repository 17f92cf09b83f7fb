// What a detector shares with the host and with all other detectors in the process, and must leave as it is.
// A value; one thread, while the detector is in no call.
#pragma once

#include <signal.h>

#include <array>
#include <filesystem>
#include <string>
#include <utility>

namespace runwarden::conformance {

class ProcessState {
 public:
  // As it is now. The first one begins to watch for processes that call exit.
  ProcessState();

  // The first thing that has changed since, and what to do instead; empty: nothing.
  std::string changed_since(const ProcessState& before) const;

 private:
  static constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,  SIGABRT, SIGTRAP, SIGSYS,
                                          SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM};
  // Of a file; -1: closed.
  using FileId = std::pair<long long, long long>;

  std::string locale_, umask_;
  std::filesystem::path folder_;
  std::array<struct sigaction, kSignals.size()> actions_;
  std::array<FileId, 3> standard_files_;
  int exited_children_;
};

}  // namespace runwarden::conformance
