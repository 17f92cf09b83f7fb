// What a serving store needs beside requests: expired records deleted, and the groups of failures of an older store counted. Done in small
// transactions between commits, each of a few milliseconds, until nothing is left.
//
// start_due() from one thread; lag_ms() from any. The queue is drained before this goes.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock_guard.h"
#include "base/log_function.h"
#include "store/store.h"

namespace runwarden::ops {

class StoreMaintenance {
 public:
  // How long records are kept; empty: until they are purged.
  struct Periods {
    std::optional<std::int64_t> runs_ms;
    std::optional<std::int64_t> failures_ms;
    std::optional<std::int64_t> changes_ms;
    std::optional<std::int64_t> policies_ms;
    std::optional<std::int64_t> deliveries_ms = std::nullopt;
  };

  StoreMaintenance(store::Store& store, store::WriteQueue& queue, const ClockGuard& clock, Periods periods, LogFunction log);

  // Starts what is due and not under way. Nothing is deleted while the clock is in doubt.
  void start_due();
  // Since the last time that nothing was left to delete; 0 if nothing is being deleted.
  std::int64_t lag_ms() const;

 private:
  void delete_expired();
  bool delete_some();
  void build_groups();

  store::Store& store_;
  store::WriteQueue& queue_;
  const ClockGuard& clock_;
  const Periods periods_;
  LogFunction log_;
  std::atomic<bool> deleting_{false};
  std::atomic<bool> building_{false};
  std::atomic<std::int64_t> last_expired_ns_;
};

}  // namespace runwarden::ops
