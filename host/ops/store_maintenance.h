// Maintains a serving store: deletes expired records, and counts the failure groups of an older store. Works in small transactions between
// commits, a few milliseconds each, until nothing is left.
//
// start_due() from one thread; lag_ms() from any. The queue must be drained before this is destroyed.
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
  // How long records are kept; empty: until purged.
  struct Periods {
    std::optional<std::int64_t> runs_ms;
    std::optional<std::int64_t> failures_ms;
    std::optional<std::int64_t> changes_ms;
    std::optional<std::int64_t> policies_ms;
    std::optional<std::int64_t> deliveries_ms = std::nullopt;
  };

  StoreMaintenance(store::Store& store, store::WriteQueue& queue, const ClockGuard& clock, Periods periods, LogFunction log);

  // Starts work that is due and not already running. Deletes nothing while the clock is in doubt.
  void start_due();
  // Time since nothing was left to delete; 0 if nothing is being deleted.
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
