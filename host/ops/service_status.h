// Reports the state of the whole service to the service manager and the log: readiness, the outcome of a reload, shutdown, and that it is
// alive.
//
// [main]; the watchdog checks on its own thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ops/log.h"
#include "ops/metrics.h"
#include "ops/service_manager.h"
#include "ops/watchdog.h"

namespace runwarden::ops {

class ServiceStatus {
 public:
  // Both outlive it.
  ServiceStatus(Log& log, Metrics& metrics) : log_(log), metrics_(metrics) {}

  // `warnings`: of the configuration.
  void starting(const std::vector<std::string>& warnings) const;
  void started() { started_ = true; }

  // Notifies the manager once that the service is ready, and until then of each new reason why it is not. `serving` says what it serves.
  bool is_ready() const { return ready_; }
  void ready(const std::string& serving);
  void not_ready(const std::string& why);

  void reloading() const { manager_.reloading(); }
  // `left`: changes that take effect at a restart; empty: none.
  void reloaded(const std::string& serving, const std::string& left) const;
  void reload_refused(const std::string& serving, const Error& why) const;

  // The process may take `within_ms` to end.
  void stopping(std::int64_t within_ms) const;
  void stopped() const;

  // If the manager has a watchdog, reports that the process is alive as long as `check` names no thread.
  void watch(Watchdog::StallCheck check);
  void change_watch(Watchdog::StallCheck check);
  void end_watch() { watchdog_.reset(); }

 private:
  Log& log_;
  Metrics& metrics_;
  const ServiceManager manager_;
  std::unique_ptr<Watchdog> watchdog_;
  bool started_ = false;
  bool ready_ = false;
  std::string last_reason_;  // why it was not ready
};

}  // namespace runwarden::ops
