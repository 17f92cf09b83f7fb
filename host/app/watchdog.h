// Tells the service manager that the process is alive for as long as it makes progress, and nothing when it does not: the
// manager then ends the process and starts it anew. Says in the log what stands still, once each time.
//
// Made and ended on the main thread; looks from a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "app/service_manager.h"
#include "app/ticker.h"

namespace runwarden::app {

class Watchdog {
 public:
  // Names what has not moved for `within_ms`; empty when all does. Must not block.
  using StandsStill = std::function<std::string(std::int64_t within_ms)>;
  struct Listener {
    std::function<void(const std::string& why)> on_still;
    std::function<void()> on_moving;  // again
  };

  // Looks four times in `watchdog_ms`, and wants progress within half of it, a second at least.
  Watchdog(const ServiceManager& manager, std::int64_t watchdog_ms, StandsStill stands_still, Listener listener);

  // Looks with `stands_still` from now on; the former one does not run any more when this returns.
  void look_with(StandsStill stands_still);

 private:
  void look();

  const ServiceManager& manager_;
  const std::int64_t within_ms_;
  const Listener listener_;
  std::mutex mutex_;  // of what follows
  StandsStill stands_still_;
  bool still_ = false;
  Ticker ticker_;  // last: it looks at the others
};

}  // namespace runwarden::app
