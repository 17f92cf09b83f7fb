// Maintains a serving store: monitors its clock and its space, deletes expired records, ends ignores of groups, and makes checkpoints of
// its ledgers.
//
// tick() and maintain() from one thread. The pool and the writer must be idle before it is destroyed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock_guard.h"
#include "base/work_pool.h"
#include "ops/clock_monitor.h"
#include "ops/ignore_expiry.h"
#include "ops/ledger_checkpoints.h"
#include "ops/log.h"
#include "ops/space_monitor.h"
#include "ops/store_maintenance.h"
#include "store/store.h"

namespace runwarden::ops {

class Housekeeping {
 public:
  struct Parts {
    store::Store& store;
    store::WriteQueue& queue;
    WorkPool& pool;
    ClockGuard& clock;
    Log& log;
    std::function<std::string(model::TenantId tenant)> tenant_name;
  };
  struct Settings {
    StoreMaintenance::Periods periods;
    std::optional<std::int64_t> checkpoint_interval_ms;  // nothing: there is no ledger
  };

  Housekeeping(const Parts& parts, const Settings& settings);

  // Several times a second.
  void tick();
  // Several times a minute.
  void maintain() { maintenance_.start_due(); }
  // Saves the time for the next start to compare with.
  void stop() { clock_.stop(); }

  const ClockMonitor& clock() const { return clock_; }
  const StoreMaintenance& maintenance() const { return maintenance_; }
  const LedgerCheckpoints* checkpoints() const { return checkpoints_.get(); }  // null: there is no ledger

 private:
  ClockMonitor clock_;
  SpaceMonitor space_;
  StoreMaintenance maintenance_;
  IgnoreExpiry ignores_;
  std::unique_ptr<LedgerCheckpoints> checkpoints_;
};

}  // namespace runwarden::ops
