#include "app/watchdog.h"

#include <algorithm>
#include <utility>

namespace runwarden::app {
namespace {

constexpr std::int64_t kLeastMs = 1000;  // the threads themselves take up to 250 ms to go round when there is nothing to do

}  // namespace

Watchdog::Watchdog(const ServiceManager& manager, std::int64_t watchdog_ms, StandsStill stands_still, Listener listener)
    : manager_(manager),
      within_ms_(std::max(watchdog_ms / 2, kLeastMs)),
      listener_(std::move(listener)),
      stands_still_(std::move(stands_still)),
      ticker_("watchdog", std::max<std::int64_t>(watchdog_ms / 4, 1), [this] { look(); }) {}

void Watchdog::look_with(StandsStill stands_still) {
  const std::lock_guard lock(mutex_);
  stands_still_ = std::move(stands_still);
}

void Watchdog::look() {
  const std::lock_guard lock(mutex_);
  const std::string what = stands_still_(within_ms_);
  if (what.empty()) {
    manager_.alive();
    if (std::exchange(still_, false)) listener_.on_moving();
    return;
  }
  if (std::exchange(still_, true)) return;
  listener_.on_still(
      what + " has made no progress for " + std::to_string(within_ms_) +
      " ms: the service manager is not told that the process is alive, and starts it anew (WatchdogSec=) unless it moves again");
}

}  // namespace runwarden::app
