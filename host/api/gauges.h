// Reads the gauges of /metrics from the parts of the service that hold them. Any thread.
#pragma once

#include "api/reply_budgets.h"
#include "base/clock_guard.h"
#include "base/fair_budget.h"
#include "base/work_pool.h"
#include "detect/crash_marks.h"
#include "http/server.h"
#include "ops/log.h"
#include "ops/metrics.h"
#include "ops/store_maintenance.h"
#include "store/store.h"

namespace runwarden::api {

struct GaugeSources {
  const ops::Log& log;
  const FairBudget& in_flight;
  const FairBudget& results;
  const ReplyBudgets& replies;
  store::Store& store;
  store::WriteQueue& queue;
  const ops::StoreMaintenance& maintenance;
  const WorkPool& pool;
  const detect::CrashMarks& crash_marks;
  const ClockGuard& clock;
};

ops::Gauges read_gauges(const GaugeSources& from);
// Those of an HTTP server, on top of what is there.
void add_counts(ops::Gauges& gauges, const http::ServerCounts& counts);

}  // namespace runwarden::api
