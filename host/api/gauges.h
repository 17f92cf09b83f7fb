// Reads the gauges of /metrics from the parts of the service that hold them. Any thread.
#pragma once

#include "api/reply_budgets.h"
#include "api/request_budgets.h"
#include "base/clock_guard.h"
#include "base/work_pool.h"
#include "detect/crash_marks.h"
#include "http/server.h"
#include "ingest/judge.h"
#include "opinion/worker.h"
#include "ops/housekeeping.h"
#include "ops/log.h"
#include "ops/metrics.h"
#include "store/store.h"
#include "webhooks/dispatcher.h"

namespace runwarden::api {

struct GaugeSources {
  const ops::Log& log;
  const RequestBudgets& requests;
  const ReplyBudgets& replies;
  store::Store& store;
  store::WriteQueue& queue;
  const ops::Housekeeping& housekeeping;
  const WorkPool& pool;
  const ingest::Detectors& detectors;
  const detect::CrashMarks& crash_marks;
  const ClockGuard& clock;
  const webhooks::Dispatcher& dispatcher;
  const opinion::Worker* second_opinion;  // null: no model is used
};

ops::Gauges read_gauges(const GaugeSources& from);
// Adds the counts of an HTTP server.
void add_counts(ops::Gauges& gauges, const http::ServerCounts& counts);

}  // namespace runwarden::api
