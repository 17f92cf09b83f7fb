// The HTTP API: authorizes each request by its head and passes the body to the step that answers it.
//
// Called by the server's workers; never blocks. Work that reads the store, judges a run or waits for the disk runs on the pool.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "api/readiness.h"
#include "api/reads.h"
#include "api/reply_budgets.h"
#include "api/router.h"
#include "auth/cursor_seal.h"
#include "auth/failed_tries.h"
#include "auth/key_ring.h"
#include "auth/rate_limiter.h"
#include "auth/sessions.h"
#include "base/fair_budget.h"
#include "base/work_pool.h"
#include "http/handler.h"
#include "http/reply.h"
#include "http/request_head.h"
#include "ingest/ingest.h"
#include "ops/log.h"
#include "ops/metrics.h"
#include "webhooks/dispatcher.h"

namespace runwarden::api {

// A reload may change them while a request is in progress; the request then uses the old or the new values.
struct ApiLimits {
  std::atomic<std::uint64_t> max_body_bytes{0};
  std::atomic<std::uint64_t> max_batch_bytes{0};
  std::atomic<std::uint64_t> max_batch_runs{0};
  std::atomic<std::uint64_t> otlp_max_body_bytes{0};
  std::atomic<int> max_json_depth{64};
};

// What the web page needs in addition to the API.
struct PageParts {
  std::unique_ptr<auth::Sessions> sessions;
  auth::FailedTries failed_logins;
};

struct WebhookParts {
  store::WebhookStore& store;
  store::WriteQueue& queue;
  webhooks::Dispatcher& dispatcher;
  auth::CursorSeal seal;
};

// Everything a request may need; all of it outlives the Api.
struct ApiParts {
  auth::KeyRing& keys;
  auth::RateLimiter& rates;
  ingest::Ingest& ingest;
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
  ReadinessCheck& readiness;
  std::function<ops::Gauges()> gauges;
  WebhookParts webhooks;
  PageParts* page;  // null: server.page is false
};

class Api final : public http::Handler {
 public:
  // Which endpoints it answers. A second listener (server.ops_address) can serve those that need no key.
  enum class Serves : std::uint8_t { all, keyed, open };

  Api(ApiParts& parts, Serves serves) : parts_(parts), serves_(serves) {}

  std::variant<http::Reply, http::Accepted> on_head(const http::RequestHead& head) override;
  void on_answered(const http::AccessRecord& record) override;

 private:
  bool here(const Route& route) const;
  std::variant<Admission, Refusal> admit_or_refuse(const http::RequestHead& head);

  ApiParts& parts_;
  Serves serves_;
};

}  // namespace runwarden::api
