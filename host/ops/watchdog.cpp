#include "ops/watchdog.h"

#include <algorithm>
#include <utility>

namespace runwarden::ops {
namespace {

constexpr std::int64_t kMinMs = 1000;  // idle threads take up to 250 ms per loop

}  // namespace

Watchdog::Watchdog(const ServiceManager& manager, std::int64_t watchdog_ms, StallCheck check, LogFunction log)
    : manager_(manager),
      within_ms_(std::max(watchdog_ms / 2, kMinMs)),
      log_(std::move(log)),
      stall_check_(std::move(check)),
      ticker_("watchdog", std::max<std::int64_t>(watchdog_ms / 4, 1), [this] { look(); }) {}

void Watchdog::set_check(StallCheck check) {
  const MutexLock lock(mutex_);
  stall_check_ = std::move(check);
}

void Watchdog::look() {
  const MutexLock lock(mutex_);
  const std::string what = stall_check_(within_ms_);
  if (what.empty()) {
    manager_.alive();
    if (std::exchange(stalled_, false)) log_(LogLevel::warn, "thread_recovered", "watchdog notifications resume");
    return;
  }
  if (std::exchange(stalled_, true)) return;
  log_(LogLevel::error, "thread_stalled",
       what + " has made no progress for " + std::to_string(within_ms_) +
           " ms: watchdog notifications stop, and the service manager restarts the process (WatchdogSec=) unless it recovers");
}

}  // namespace runwarden::ops
