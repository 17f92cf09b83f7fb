// The HTTP API: decides on each request's head who may do what, and hands the body to the step that answers it.
//
// Called by the server's workers; nothing here blocks. What reads the store, judges a run or waits for the disk goes to the pool.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/reads.h"
#include "api/reply_budgets.h"
#include "api/router.h"
#include "auth/failed_tries.h"
#include "auth/key_ring.h"
#include "auth/rate_limiter.h"
#include "auth/sessions.h"
#include "base/fair_budget.h"
#include "base/work_pool.h"
#include "http/server.h"
#include "ingest/change_ingest.h"
#include "ingest/event_ingest.h"
#include "ingest/run_ingest.h"
#include "ingest/trace_ingest.h"
#include "ingest/triage_ingest.h"
#include "ops/clock_monitor.h"
#include "ops/log.h"
#include "ops/metrics.h"

namespace runwarden::api {

// A reload changes them while requests come in: each request has those of its beginning, or later ones.
struct ApiLimits {
  std::atomic<std::uint64_t> max_body_bytes{0};
  std::atomic<std::uint64_t> max_batch_bytes{0};
  std::atomic<std::uint64_t> max_batch_runs{0};
  std::atomic<std::uint64_t> otlp_max_body_bytes{0};
  std::atomic<int> max_json_depth{64};
};

// What /readyz says.
struct Readiness {
  std::vector<std::string> reasons;       // empty: ready
  int retry_after_s = 5;                  // while not ready
  std::vector<std::string> quarantined;   // keys of detectors that are skipped until a reload
  std::vector<std::string> not_loaded;    // keys of optional detectors that could not be loaded
  std::vector<ops::OperatorWarning> warnings;  // for an operator, ready or not
};

// What the web page needs beyond the requests that everybody may send.
struct PageParts {
  std::unique_ptr<auth::Sessions> sessions;
  auth::FailedTries failed_logins;
};

// Everything a request may need; all of it outlives the Api.
struct ApiParts {
  auth::KeyRing& keys;
  auth::RateLimiter& rates;
  ingest::RunIngest& runs;
  ingest::EventIngest& events;
  ingest::ChangeIngest& changes;
  ingest::TraceIngest& traces;
  ingest::TriageIngest& triage;
  ingest::Detectors detectors;
  const ingest::Redaction& redaction;
  Reads& reads;
  WorkPool& pool;
  FairBudget& in_flight;
  FairBudget& results;  // of NDJSON batches, until they are answered
  ReplyBudgets& replies;
  ops::Metrics& metrics;
  ops::Log& log;
  const Clock& clock;
  const ApiLimits& limits;
  std::function<void(std::function<void(const Readiness&)> then)> readiness;  // `then` once, now or later, from any thread
  std::function<ops::Gauges()> gauges;
  PageParts* page;  // null: server.page is false
};

class Api final : public http::Handler {
 public:
  // Which endpoints it answers: a second listener (server.ops_address) can take those without a key.
  enum class Serves : std::uint8_t { all, keyed, open };

  Api(ApiParts& parts, Serves serves) : parts_(parts), serves_(serves) {}

  std::variant<http::Reply, http::Accepted> on_head(const http::RequestHead& head) override;
  void on_answered(const http::Answered& answered) override;

 private:
  bool here(const Route& route) const;
  std::variant<Admission, Refusal> admit_or_refuse(const http::RequestHead& head);

  ApiParts& parts_;
  Serves serves_;
};

}  // namespace runwarden::api
