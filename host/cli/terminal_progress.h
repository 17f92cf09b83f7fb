// Shows a command's progress on standard error if that is a terminal. [main] only.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "base/clock.h"
#include "store/maintenance_commands.h"

namespace runwarden::cli {

class TerminalProgress {
 public:
  // `err` is standard error and must outlive this object.
  explicit TerminalProgress(std::ostream& err);
  ~TerminalProgress();
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  // Draws a few times a second, beginning after half a second.
  void show(const store::Progress& progress);
  // Call it before writing anything else to standard error.
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
