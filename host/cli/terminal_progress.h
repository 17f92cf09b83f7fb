// How far a command has come, on standard error where that is a terminal. [main] only.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "base/clock.h"
#include "store/maintenance_commands.h"

namespace runwarden::cli {

class TerminalProgress {
 public:
  // `err` is standard error and outlives this.
  explicit TerminalProgress(std::ostream& err);
  ~TerminalProgress();
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  // Drawn a few times a second, from half a second on.
  void show(const store::Progress& progress);
  // Before anything else is written to standard error.
  void clear();

 private:
  std::ostream& err_;
  SystemClock clock_;
  bool terminal_ = false;
  bool shown_ = false;
  std::int64_t shown_ns_ = 0;
  std::int64_t begun_ns_ = 0;
};

// "1.4 GiB"
std::string size_text(std::uint64_t bytes);

}  // namespace runwarden::cli
