// Takes OTLP requests: durably stores the spans of each trace, from which its run is assembled when due.
//
// take() is called from a pool thread; the answer comes once, on a pool thread or the writer's. A repeated span changes nothing, and a
// later version of a span replaces it, so requests may arrive twice and in any order. A copy made while the span was running changes
// nothing once its end is stored, and does not open a resolved run again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/work_pool.h"
#include "ingest/ingest_answer.h"
#include "ingest/redaction.h"
#include "ingest/run_resolver.h"
#include "intake/otlp/decode.h"
#include "intake/otlp/span_facts.h"
#include "model/otlp_mapping.h"
#include "store/event_buffer.h"
#include "store/run_store.h"
#include "store/write_queue.h"

namespace runwarden::ingest {

struct TraceAnswer {
  std::optional<Error> error;  // the request was refused; nothing of it is stored
  bool in_doubt = false;       // there is no answer; the client's connection is closed without one
  std::uint64_t accepted = 0;  // spans
  std::uint64_t rejected = 0;
  std::string message;  // why spans were rejected; empty: none were
};

class TraceIngest {
 public:
  struct Parts {
    store::RunStore& store;
    store::EventBuffer& buffer;
    store::WriteQueue& queue;
    WorkPool& pool;
    const Clock& clock;
    RunResolver& resolver;
    const Redaction& redaction;
    const model::SpanMapping& mapping;
    std::uint32_t max_events = 10'000;  // spans per revision
    std::uint64_t max_open_runs = 1'000'000;
    std::size_t max_spans = 100'000;  // per request
  };
  using Done = std::function<void(TraceAnswer)>;

  explicit TraceIngest(Parts parts) : parts_(parts) {}

  void take(IngestRequest request, intake::otlp::Encoding encoding, const Done& done);

 private:
  struct Job;
  void drop_running_copies(model::TenantId tenant, std::map<std::string, std::vector<intake::otlp::SpanFacts>>& traces) const;
  std::optional<Error> refuse_over_limit(const IngestRequest& request, const std::map<std::string, std::vector<intake::otlp::SpanFacts>>& traces);
  void stored(const std::shared_ptr<Job>& job, const store::WriteResult& result);
  void end(model::TenantId tenant, const store::Buffered& buffered);

  Parts parts_;
};

}  // namespace runwarden::ingest
