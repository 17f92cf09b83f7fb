// Monitors the service's guarded clock: logs jumps, saves the time in the store for the next start to compare with, and applies an
// operator's confirmation (runwarden store accept-clock) that the machine's clock is right.
//
// tick() from one thread, several times a second; warning() from any.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock_guard.h"
#include "ops/log.h"
#include "store/maintenance.h"

namespace runwarden::ops {

// A condition that an operator should look at although the service works.
struct OperatorWarning {
  std::string name;
  std::string detail;
};

class ClockMonitor {
 public:
  struct Parts {
    ClockGuard& clock;
    store::Maintenance& store;
    std::function<void(std::function<void()>)> write;  // runs a job on the writer thread
    LineFunction log;
  };
  static constexpr std::int64_t kNoteEveryMs = 60'000;

  explicit ClockMonitor(Parts parts);  // ignores confirmations given before

  void tick();
  // Saves the time for the next start to compare with.
  void stop() { note(); }
  std::optional<OperatorWarning> warning() const;

 private:
  void look_for_accept();
  void log(const ClockGuard::Event& event) const;
  void note();

  Parts parts_;
  std::uint64_t accepts_ = 0;
  std::optional<std::int64_t> noted_ns_;
};

}  // namespace runwarden::ops
