// Notifies the service manager that the process is alive while it makes progress. Otherwise it sends nothing and the manager restarts the
// process. Logs each stall once.
//
// Created and destroyed on the main thread; checks on its own thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/log_function.h"
#include "base/mutex.h"
#include "ops/service_manager.h"
#include "ops/ticker.h"

namespace runwarden::ops {

class Watchdog {
 public:
  // Names a thread without progress for `within_ms`; empty if all make progress. Must not block.
  using StallCheck = std::function<std::string(std::int64_t within_ms)>;

  // Checks four times per `watchdog_ms` for progress within half of it, but at least one second.
  Watchdog(const ServiceManager& manager, std::int64_t watchdog_ms, StallCheck check, LogFunction log);

  // Replaces the check. The previous one is not running when this returns.
  void set_check(StallCheck check);

 private:
  void look();

  const ServiceManager& manager_;
  const std::int64_t within_ms_;
  const LogFunction log_;
  Mutex mutex_;
  StallCheck stall_check_ RW_GUARDED_BY(mutex_);
  bool stalled_ RW_GUARDED_BY(mutex_) = false;
  Ticker ticker_;  // last, because its thread uses the others
};

}  // namespace runwarden::ops
