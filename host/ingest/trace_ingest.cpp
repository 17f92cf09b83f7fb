#include "ingest/trace_ingest.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ingest/faults.h"

namespace runwarden::ingest {
namespace {

using intake::otlp::SpanFacts;
using Traces = std::map<std::string, std::vector<SpanFacts>>;

constexpr int kRetryS = 2;               // exporters wait at most for their own timeout, 10 s
constexpr std::size_t kMostReasons = 5;  // per answer
constexpr std::size_t kShownName = 80;   // characters of a span's name in a message

std::string shown(const intake::otlp::Span& span) {
  const std::string name = "span \"" + std::string(span.name.substr(0, kShownName)) + "\"";
  return span.span_id.empty() ? name : name + " (" + std::string(span.span_id) + ")";
}

// Groups the spans of a request by trace and counts those that cannot be accepted.
class Collector final : public intake::otlp::SpanSink {
 public:
  Collector(const model::SpanMapping& mapping, std::size_t max_spans) : mapping_(mapping), max_spans_(max_spans) {}

  void take(intake::otlp::Span& span, const intake::otlp::Origin& origin) override {
    if (!span.fault.empty()) return reject(shown(span) + " " + span.fault);
    if (accepted_ == max_spans_) {
      return reject("the request contains more than " + std::to_string(max_spans_) + " spans; lower the exporter's batch size");
    }
    ++accepted_;
    auto facts = intake::otlp::facts_of(span, origin, mapping_);
    if (facts) traces_[facts->trace_id].push_back(std::move(*facts));
  }

  void restart() override {
    traces_.clear();
    reasons_.clear();
    accepted_ = rejected_ = 0;
  }

  Traces& traces() { return traces_; }

  TraceAnswer answer() const {
    TraceAnswer answer;
    answer.accepted = accepted_;
    answer.rejected = rejected_;
    for (const std::string& reason : reasons_) answer.message += (answer.message.empty() ? "" : "; ") + reason;
    if (rejected_ > reasons_.size() && !reasons_.empty()) answer.message += "; and more";
    return answer;
  }

 private:
  void reject(std::string reason) {
    ++rejected_;
    const bool said = std::find(reasons_.begin(), reasons_.end(), reason) != reasons_.end();
    if (!said && reasons_.size() < kMostReasons) reasons_.push_back(std::move(reason));
  }

  const model::SpanMapping& mapping_;
  const std::size_t max_spans_;
  Traces traces_;
  std::vector<std::string> reasons_;
  std::uint64_t accepted_ = 0;
  std::uint64_t rejected_ = 0;
};

TraceAnswer refused_with(Error error) {
  TraceAnswer answer;
  answer.error = std::move(error);
  return answer;
}

}  // namespace

struct TraceIngest::Job {
  Done done;
  TraceAnswer answer;
  model::TenantId tenant = 0;
  std::vector<std::pair<std::string, std::uint64_t>> traces;  // ids and span counts, in the order of the write
};

void TraceIngest::take(IngestRequest request, intake::otlp::Encoding encoding, const Done& done) {
  Collector collector(parts_.mapping, parts_.max_spans);
  intake::otlp::DecodeLimits limits;
  limits.max_value_depth = request.max_json_depth;
  if (Status read = intake::otlp::decode(request.body, encoding, limits, collector); !read.ok()) {
    return done(refused_with(parts_.redaction.error(std::move(read.error()), {})));
  }
  request.body = {};
  auto job = std::make_shared<Job>();
  job->done = done;
  job->answer = collector.answer();
  job->answer.message = parts_.redaction.text(job->answer.message);
  job->tenant = request.tenant;
  Traces& traces = collector.traces();
  drop_running_copies(request.tenant, traces);
  if (traces.empty()) return done(std::move(job->answer));
  if (auto refusal = refuse_over_limit(request, traces)) return done(refused_with(std::move(*refusal)));
  std::vector<std::string*> jsons;
  for (auto& [id, spans] : traces) {
    for (SpanFacts& span : spans) jsons.push_back(&span.json);
  }
  parts_.redaction.spans(jsons);
  store::TracesWrite write;
  write.tenant = request.tenant;
  for (auto& [id, spans] : traces) {
    job->traces.emplace_back(id, spans.size());
    store::EventsWrite& trace = write.traces.emplace_back();
    trace.tenant = request.tenant;
    trace.key = {parts_.clock.wall_ms(), parts_.store.next_seq()};
    trace.run_id = id;
    trace.source = model::RunSource::otlp;
    trace.max_events = parts_.max_events;
    for (SpanFacts& span : spans) {
      trace.has_root = trace.has_root || span.is_root;
      trace.events.push_back({std::move(span.version), std::move(span.json), false, {}});
    }
  }
  const bool queued = parts_.queue.submit(
      std::move(write), [this, job](const store::WriteResult& result) { stored(job, result); }, request.permit);
  if (!queued) done(refused_with(not_queued(parts_.queue)));
}

// In an open run they change nothing, so only those of resolved runs are looked for. One that resolves only now may be opened again, with
// the same steps.
void TraceIngest::drop_running_copies(model::TenantId tenant, Traces& traces) const {
  const auto is_running = [](const SpanFacts& span) { return !span.has_ended; };
  for (auto trace = traces.begin(); trace != traces.end();) {
    auto& [id, spans] = *trace;
    if (std::any_of(spans.begin(), spans.end(), is_running)) {
      const auto head = parts_.store.run_head(tenant, id, std::nullopt);
      if (head && head->state == model::RunState::resolved && head->source == model::RunSource::otlp) {
        const auto ended = intake::otlp::ended_spans(parts_.store.events(tenant, head->key));
        std::erase_if(spans, [&](const SpanFacts& span) { return is_running(span) && ended.contains(span.span_id); });
      }
    }
    trace = spans.empty() ? traces.erase(trace) : std::next(trace);
  }
}

// Runs that are already open may continue; those that the request opens, or opens again, count against the limit.
std::optional<Error> TraceIngest::refuse_over_limit(const IngestRequest& request, const Traces& traces) {
  if (parts_.buffer.open_runs().count + traces.size() <= parts_.max_open_runs) return std::nullopt;
  const auto opens = [&](const auto& trace) {
    const auto head = parts_.store.run_head(request.tenant, trace.first, std::nullopt);
    return !head || head->state != model::RunState::open;
  };
  const auto opened = static_cast<std::uint64_t>(std::count_if(traces.begin(), traces.end(), opens));
  if (opened == 0 || parts_.buffer.open_runs().count + opened <= parts_.max_open_runs) return std::nullopt;
  return too_many_open_runs(parts_.max_open_runs, kRetryS);
}

// [writer]
void TraceIngest::stored(const std::shared_ptr<Job>& job, const store::WriteResult& result) {
  using Outcome = store::WriteResult::Outcome;
  if (result.outcome != Outcome::stored) {
    IngestAnswer none = not_stored(result);
    TraceAnswer answer = refused_with(std::move(none.error));
    answer.in_doubt = none.kind == IngestAnswer::Kind::in_doubt;
    return job->done(std::move(answer));
  }
  TraceAnswer& answer = job->answer;
  for (std::size_t i = 0; i < result.traces.size(); ++i) {
    const store::WriteResult& of_trace = result.traces[i];
    if (of_trace.outcome == Outcome::run_conflict) {
      const auto& [id, spans] = job->traces[i];
      answer.accepted -= std::min(answer.accepted, spans);
      answer.rejected += spans;
      answer.message += (answer.message.empty() ? "" : "; ") + ("the runId " + id + " of this trace belongs to a run that did not come from OpenTelemetry");
    } else if (of_trace.buffered && of_trace.buffered->ends) {
      end(job->tenant, *of_trace.buffered);
    }
  }
  job->done(std::move(answer));
}

// Ends a revision that has reached its span limit. If this fails, RunResolver::poke() ends it later.
void TraceIngest::end(model::TenantId tenant, const store::Buffered& buffered) {
  parts_.pool.post([this, tenant, buffered](std::size_t worker) {
    const auto claim = parts_.buffer.claim_run(tenant, buffered.run, std::nullopt, kLeaseMs);
    if (claim) parts_.resolver.resolve(worker, *claim, [this](const Result<model::RunRecord>&) { parts_.resolver.poke(); });
  });
}

}  // namespace runwarden::ingest
