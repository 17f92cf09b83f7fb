// All ways into one store: runs, events, traces, changes, triage, reviews, and the service's own canary run.
//
// Each member states its thread rule. Everything in Parts outlives this object; the pool and the queue are idle before it is destroyed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/log_function.h"
#include "ingest/canary_run.h"
#include "ingest/change_ingest.h"
#include "ingest/event_ingest.h"
#include "ingest/judge.h"
#include "ingest/redaction.h"
#include "ingest/review_ingest.h"
#include "ingest/run_ingest.h"
#include "ingest/run_resolver.h"
#include "ingest/tenant_names.h"
#include "ingest/trace_ingest.h"
#include "ingest/triage_ingest.h"
#include "ingest/keyed_queue.h"
#include "store/store.h"

namespace runwarden::ingest {

struct Ingest {
  struct Parts {
    store::Store& store;
    store::WriteQueue& queue;
    WorkPool& pool;
    const Clock& clock;
    Detectors detectors;
    const Redaction& redaction;
    const model::SpanMapping& mapping;
    FairBudget& reads;  // budget for answers that show a whole run, held until clients have read them
    OnVerdict on_verdict;
    LogFunction log;
    ReviewIngest::OnReview on_review = {};
  };
  struct Limits {
    int max_json_depth = 64;
    std::uint32_t max_events = 10'000;  // per revision of an open run
    std::uint64_t max_open_runs = 1'000'000;
    std::vector<std::string> dimensions = {};  // the metadata members by which runs are compared
    store::BufferRules buffer;
    OpinionRules opinions = {};  // which verdicts a model is asked about
  };

  Ingest(const Parts& parts, const Limits& limits);

  TenantNames tenants;
  KeyedQueue keyed_queue;
  Judge judge;
  RunIngest runs;
  RunResolver resolver;
  EventIngest events;
  TraceIngest traces;
  ChangeIngest changes;
  TriageIngest triage;
  ReviewIngest reviews;
  CanaryRun canary;
};

}  // namespace runwarden::ingest
