#include "ops/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <map>

#include "base/mutex.h"

namespace runwarden::ops {
namespace {

using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;

template <class Metric>
using Family = prometheus::Family<Metric>;

Family<Counter>& counter(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

Gauge& gauge(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
}

Family<Gauge>& gauges(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

const Histogram::BucketBoundaries kSeconds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
const Histogram::BucketBoundaries kDetectorSeconds{0.000001, 0.000005, 0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.25, 1};
const Histogram::BucketBoundaries kBatch{1, 2, 4, 8, 16, 32, 64, 128, 256, 512};

void raise_to(Counter& counter, std::uint64_t value) {
  const double more = static_cast<double>(value) - counter.Value();
  if (more > 0) counter.Increment(more);
}

}  // namespace

struct Metrics::Families {
  prometheus::Registry registry;
  Family<Gauge>& build_info = gauges(registry, "runwarden_build_info", "1; the label is the version that runs");
  Family<Counter>& requests = counter(registry, "runwarden_http_requests_total", "Requests answered, by route and status code");
  Family<Histogram>& request_seconds = prometheus::BuildHistogram()
                                           .Name("runwarden_http_request_duration_seconds")
                                           .Help("From a request's first byte to its answer's last, by route")
                                           .Register(registry);
  Counter& request_bytes = counter(registry, "runwarden_http_request_bytes_total", "Body bytes received, as on the wire").Add({});
  Counter& answer_bytes = counter(registry, "runwarden_http_response_bytes_total", "Bytes answered").Add({});
  Counter& accepted = counter(registry, "runwarden_http_connections_accepted_total", "Connections accepted").Add({});
  Counter& pauses =
      counter(registry, "runwarden_http_accept_pauses_total", "Times accepting paused: connection cap or no file descriptors").Add({});
  Counter& framing = counter(registry, "runwarden_http_framing_errors_total", "Requests that were not valid HTTP").Add({});
  Counter& timeouts = counter(registry, "runwarden_http_timeouts_total",
                              "Connections ended because a head, a body or the reading of an answer took too long")
                          .Add({});
  Counter& dropped = counter(registry, "runwarden_http_answers_dropped_total", "Answers whose client had disconnected").Add({});
  Counter& log_dropped =
      counter(registry, "runwarden_log_lines_dropped_total", "Log lines lost because nobody read them or they could not be written")
          .Add({});
  Gauge& connections = gauge(registry, "runwarden_http_connections", "Open connections");
  Gauge& in_flight = gauge(registry, "runwarden_requests_in_flight", "Requests received in full and not yet answered");
  Gauge& in_flight_bytes = gauge(registry, "runwarden_requests_in_flight_bytes", "Body bytes of the requests in flight");
  Family<Gauge>& reply_bytes =
      prometheus::BuildGauge()
          .Name("runwarden_reply_bytes")
          .Help("Bytes of answers in preparation or waiting for their clients, by share: reads, ingest, open (without a key)")
          .Register(registry);
  Family<Gauge>& reply_bytes_max = prometheus::BuildGauge()
                                       .Name("runwarden_reply_bytes_max")
                                       .Help("Limit of answer bytes per share; reads: limits.max_reply_bytes")
                                       .Register(registry);
  Family<Counter>& replies_refused =
      counter(registry, "runwarden_replies_refused_total", "Requests answered with 503 because their share of answer bytes was exhausted");
  Gauge& batch_results = gauge(registry, "runwarden_batch_result_bytes", "Bytes of results of NDJSON batches that are not yet answered");
  Gauge& queue_depth = gauge(registry, "runwarden_commit_queue_records", "Records waiting for the writer");
  Gauge& queue_bytes = gauge(registry, "runwarden_commit_queue_bytes", "Bytes waiting for the writer");
  Histogram& commit_seconds = prometheus::BuildHistogram()
                                  .Name("runwarden_store_commit_seconds")
                                  .Help("Time of a commit, flush included")
                                  .Register(registry)
                                  .Add({}, kSeconds);
  Histogram& commit_records =
      prometheus::BuildHistogram().Name("runwarden_store_batch_records").Help("Records in a commit").Register(registry).Add({}, kBatch);
  Gauge& store_used = gauge(registry, "runwarden_store_used_bytes", "Bytes of the store that hold records; of a database, its size");
  Family<Gauge>& store_map = prometheus::BuildGauge()
                                 .Name("runwarden_store_map_bytes")
                                 .Help("Maximum size of the store (store.map_size); absent where the records are in a database")
                                 .Register(registry);
  Gauge& store_file = gauge(registry, "runwarden_store_file_bytes", "Size of the store's file");
  Gauge& store_refusing = gauge(registry, "runwarden_store_refusing",
                                "1 while writes are refused because the store is full or the database is away; /readyz gives the reason");
  Gauge& open_runs = gauge(registry, "runwarden_open_runs", "Runs that are open from events");
  Gauge& oldest_open_run = gauge(registry, "runwarden_oldest_open_run_age_seconds", "Time since the oldest open run's first event");
  Gauge& retention_lag =
      gauge(registry, "runwarden_retention_lag_seconds", "Time since retention last caught up; 0 if nothing is left to delete");
  Gauge& clock_in_doubt = gauge(registry, "runwarden_clock_in_doubt",
                                "1 while nothing is deleted because the machine's clock jumped and nobody has confirmed it");
  Gauge& abandoned_calls =
      gauge(registry, "runwarden_detector_abandoned_calls", "Detector calls abandoned after their deadline that have not returned");
  Gauge& crash_marks =
      gauge(registry, "runwarden_detector_crash_marks", "Runs on which a detector crashed the process; they are judged without it");
  Family<Gauge>& quarantined =
      gauges(registry, "runwarden_detector_quarantined", "1 while the detector is skipped because it failed too often, by key");
  Family<Counter>& reloads = counter(registry, "runwarden_reloads_total", "Configuration reloads (SIGHUP), by result");
  Counter& reloads_done = reloads.Add({{"result", "done"}});
  Counter& reloads_refused = reloads.Add({{"result", "refused"}});
  Family<Counter>& spans = counter(registry, "runwarden_otlp_spans_total", "Spans received, by result");
  Counter& spans_accepted = spans.Add({{"result", "accepted"}});
  Counter& spans_rejected = spans.Add({{"result", "rejected"}});
  Counter& unreadable = counter(registry, "runwarden_store_unreadable_records_total",
                                "Times a list skipped an unreadable record; the log names it, runwarden verify finds it")
                            .Add({});
  Family<Counter>& detector_runs =
      counter(registry, "runwarden_detector_runs_total", "Runs evaluated by a detector, by key and status; mode=\"shadow\": shadow mode");
  Family<Counter>& detector_failures =
      counter(registry, "runwarden_detector_failures_total", "Failures found, by detector key; mode=\"shadow\": shadow mode");
  Family<Counter>& detector_suppressed =
      counter(registry, "runwarden_detector_suppressed_total", "Findings suppressed by a precision rule, by key and rule");
  Family<Histogram>& detector_seconds = prometheus::BuildHistogram()
                                            .Name("runwarden_detector_duration_seconds")
                                            .Help("Time a detector took for a run, by key")
                                            .Register(registry);

  Family<Counter>& webhook_attempts = counter(
      registry, "runwarden_webhook_attempts_total",
      "Attempts to deliver webhook messages, by outcome: delivered, retried (failed, tried again later), dead (failed for the last time)");
  Counter& webhooks_delivered = webhook_attempts.Add({{"outcome", "delivered"}});
  Counter& webhooks_retried = webhook_attempts.Add({{"outcome", "retried"}});
  Counter& webhooks_given_up = webhook_attempts.Add({{"outcome", "dead"}});
  Gauge& webhooks_pending =
      gauge(registry, "runwarden_webhook_pending", "Webhook messages waiting for delivery, including those to disabled webhooks");
  Gauge& webhooks_dead = gauge(registry, "runwarden_webhook_dead", "Webhook messages that were given up and can be replayed");
  Gauge& ledger_entries = gauge(registry, "runwarden_ledger_entries", "Entries of all ledgers, as of the last round of checkpoints");
  Gauge& ledger_checkpoint_age =
      gauge(registry, "runwarden_ledger_checkpoint_age_seconds", "Time since checkpoints last covered everything that every ledger held");
  Gauge& webhooks_oldest =
      gauge(registry, "runwarden_webhook_oldest_pending_age_seconds", "Age of the oldest message waiting for an active webhook");

  Counter& opinions_asked = counter(registry, "runwarden_second_opinion_asked_total", "Requests to the second-opinion model").Add({});
  Family<Counter>& opinion_answers =
      counter(registry, "runwarden_second_opinion_answers_total", "Answers of the model, by verdict: present, absent, unclear");
  Family<Counter>& opinion_failures =
      counter(registry, "runwarden_second_opinion_failures_total", "Failed attempts to get an answer from the model, by reason");
  Family<Counter>& opinion_tokens = counter(registry, "runwarden_second_opinion_tokens_total",
                                            "Tokens used, as reported by the model's endpoint, by kind: prompt, completion");
  Counter& prompt_tokens = opinion_tokens.Add({{"kind", "prompt"}});
  Counter& completion_tokens = opinion_tokens.Add({{"kind", "completion"}});
  Gauge& opinions_waiting = gauge(registry, "runwarden_second_opinion_waiting", "Questions waiting for the model's answer");
  Gauge& opinions_dead = gauge(registry, "runwarden_second_opinion_dead", "Questions that were given up without an answer");
  Gauge& opinions_oldest =
      gauge(registry, "runwarden_second_opinion_oldest_waiting_age_seconds", "Age of the oldest question waiting for the model's answer");

  Family<Counter>& reviews =
      counter(registry, "runwarden_reviews_total", "Reviews stored, by detector and verdict; verdict=\"none\": a review was withdrawn");
  Family<Gauge>& detector_reviews =
      gauges(registry, "runwarden_detector_reviews", "Reviews of the last 90 days in force, by detector and verdict");
  Family<Gauge>& precision = gauges(registry, "runwarden_detector_precision",
                                    "Share of a detector's reviewed failures of the last 90 days that were right; NaN below 5 reviews");
  Family<Gauge>& precision_low =
      gauges(registry, "runwarden_detector_precision_low", "Lower bound of its 95 % confidence interval (Wilson)");
  Family<Gauge>& precision_high =
      gauges(registry, "runwarden_detector_precision_high", "Upper bound of its 95 % confidence interval (Wilson)");

  Family<Counter>& redactions = counter(registry, "runwarden_redactions_total", "Values redacted from client data, by rule");

  struct OfRoute {
    std::map<int, Counter*> by_status;
    Histogram* seconds = nullptr;
  };
  struct OfDetector {
    std::map<model::DetectorStatus, Counter*> by_status;
    Histogram* seconds = nullptr;
  };

  // Adding a metric hashes its labels under a lock, so the metrics are cached here by a short key.
  Mutex mutex;
  std::map<std::string, OfRoute, std::less<>> routes RW_GUARDED_BY(mutex);
  std::map<std::string, OfDetector, std::less<>> detectors RW_GUARDED_BY(mutex), shadow_detectors RW_GUARDED_BY(mutex);
  std::map<std::string, Counter*, std::less<>> redacted RW_GUARDED_BY(mutex);
  std::map<std::string, Gauge*> quarantined_detectors RW_GUARDED_BY(mutex);
  std::map<std::string, Family<Gauge>*> engine_gauges RW_GUARDED_BY(mutex);
  std::map<std::string, Family<Counter>*> engine_counters RW_GUARDED_BY(mutex);

  void show_requests(const Gauges& gauges);
  void show_store(const Gauges& gauges);
  void show_background(const Gauges& gauges);
  void show_quarantined(const std::map<std::string, bool>& by_key) RW_REQUIRES(mutex);
  void set(const MetricSample& sample) RW_REQUIRES(mutex);
  void count(std::map<std::string, OfDetector, std::less<>>& counted, const std::vector<model::DetectorReport>& reports,
             const prometheus::Labels& mode) RW_REQUIRES(mutex);
};

void Metrics::Families::set(const MetricSample& sample) {
  const prometheus::Labels labels(sample.labels.begin(), sample.labels.end());
  if (sample.kind == MetricSample::Kind::counter) {
    Family<Counter>*& family = engine_counters[sample.name];
    if (family == nullptr) family = &prometheus::BuildCounter().Name(sample.name).Help(sample.help).Register(registry);
    Counter& counted = family->Add(labels);
    if (sample.value > counted.Value()) counted.Increment(sample.value - counted.Value());
    return;
  }
  Family<Gauge>*& family = engine_gauges[sample.name];
  if (family == nullptr) family = &prometheus::BuildGauge().Name(sample.name).Help(sample.help).Register(registry);
  family->Add(labels).Set(sample.value);
}

// `mode`: the label of shadow detectors.
void Metrics::Families::count(std::map<std::string, OfDetector, std::less<>>& counted, const std::vector<model::DetectorReport>& reports,
                              const prometheus::Labels& mode) {
  for (const model::DetectorReport& report : reports) {
    const auto labels = [&](const char* name, const std::string& value) {
      prometheus::Labels all = mode;
      all.emplace("detector", report.key);
      if (name != nullptr) all.emplace(name, value);
      return all;
    };
    auto& known = counted[report.key];
    if (known.seconds == nullptr) known.seconds = &detector_seconds.Add(labels(nullptr, {}), kDetectorSeconds);
    Counter*& runs = known.by_status[report.status];
    if (runs == nullptr) runs = &detector_runs.Add(labels("status", model::name(report.status)));
    runs->Increment();
    known.seconds->Observe(static_cast<double>(report.elapsed_ns) / 1e9);
    for (const model::Suppression& one : report.suppressed) detector_suppressed.Add(labels("rule", one.rule)).Increment();
  }
}

Metrics::Metrics() : families_(std::make_unique<Families>()) {
  families_->build_info.Add({{"version", RUNWARDEN_VERSION}}).Set(1);
  for (const char* const verdict : {"present", "absent", "unclear"}) families_->opinion_answers.Add({{"verdict", verdict}});
  for (const char* const reason : {"connection_failed", "timeout", "unreadable_answer"})
    families_->opinion_failures.Add({{"reason", reason}});
}
Metrics::~Metrics() = default;

void Metrics::request(std::string_view route, int status, double seconds, std::uint64_t request_bytes, std::uint64_t answer_bytes) {
  families_->request_bytes.Increment(static_cast<double>(request_bytes));
  families_->answer_bytes.Increment(static_cast<double>(answer_bytes));
  const MutexLock lock(families_->mutex);
  auto known = families_->routes.find(route);
  if (known == families_->routes.end()) {
    const std::string name(route);
    known = families_->routes.emplace(name, Families::OfRoute{{}, &families_->request_seconds.Add({{"route", name}}, kSeconds)}).first;
  }
  Counter*& count = known->second.by_status[status];
  if (count == nullptr) count = &families_->requests.Add({{"route", known->first}, {"code", std::to_string(status)}});
  count->Increment();
  known->second.seconds->Observe(seconds);
}

void Metrics::verdict(const model::Verdict& verdict) {
  const MutexLock lock(families_->mutex);
  families_->count(families_->detectors, verdict.reports, {});
  families_->count(families_->shadow_detectors, verdict.shadow_reports, {{"mode", "shadow"}});
  for (const auto* findings : {&verdict.findings, &verdict.shadow_findings}) {
    for (const model::Finding& finding : *findings) {
      prometheus::Labels labels{{"detector", finding.detector_key}};
      if (finding.shadow) labels.emplace("mode", "shadow");
      families_->detector_failures.Add(labels).Increment();
    }
  }
}

void Metrics::commit(std::size_t records, double seconds) {
  families_->commit_records.Observe(static_cast<double>(records));
  families_->commit_seconds.Observe(seconds);
}

void Metrics::reload(Reload result) {
  (result == Reload::done ? families_->reloads_done : families_->reloads_refused).Increment();
}

void Metrics::redacted(std::string_view rule, std::uint64_t values) {
  const MutexLock lock(families_->mutex);
  auto known = families_->redacted.find(rule);
  if (known == families_->redacted.end()) {
    const std::string name(rule);
    known = families_->redacted.emplace(name, &families_->redactions.Add({{"rule", name}})).first;
  }
  known->second->Increment(static_cast<double>(values));
}

void Metrics::spans(std::uint64_t accepted, std::uint64_t rejected) {
  families_->spans_accepted.Increment(static_cast<double>(accepted));
  families_->spans_rejected.Increment(static_cast<double>(rejected));
}

void Metrics::webhook_attempt(model::DeliveryState after) {
  switch (after) {
    case model::DeliveryState::delivered: return families_->webhooks_delivered.Increment();
    case model::DeliveryState::pending: return families_->webhooks_retried.Increment();
    case model::DeliveryState::dead: return families_->webhooks_given_up.Increment();
  }
}

void Metrics::opinion_asked() {
  families_->opinions_asked.Increment();
}

void Metrics::opinion_answer(std::string_view verdict) {
  families_->opinion_answers.Add({{"verdict", std::string(verdict)}}).Increment();
}

void Metrics::opinion_failure(std::string_view reason) {
  families_->opinion_failures.Add({{"reason", std::string(reason)}}).Increment();
}

void Metrics::opinion_tokens(std::uint64_t prompt, std::uint64_t completion) {
  families_->prompt_tokens.Increment(static_cast<double>(prompt));
  families_->completion_tokens.Increment(static_cast<double>(completion));
}

void Metrics::review(const std::string& detector, model::ReviewVerdict verdict) {
  families_->reviews.Add({{"detector", detector}, {"verdict", model::name(verdict)}}).Increment();
}

void Metrics::detector_reviews(const std::string& detector, const model::ReviewCounts& counts, const std::optional<Interval>& precision) {
  using Verdict = model::ReviewVerdict;
  model::ReviewCounts of = counts;
  for (const Verdict verdict : {Verdict::right, Verdict::false_alarm, Verdict::unsure, Verdict::missed, Verdict::clean}) {
    families_->detector_reviews.Add({{"detector", detector}, {"verdict", model::name(verdict)}}).Set(static_cast<double>(of.of(verdict)));
  }
  const double none = std::numeric_limits<double>::quiet_NaN();
  families_->precision.Add({{"detector", detector}}).Set(precision ? precision->value : none);
  families_->precision_low.Add({{"detector", detector}}).Set(precision ? precision->low : none);
  families_->precision_high.Add({{"detector", detector}}).Set(precision ? precision->high : none);
}

void Metrics::unreadable_record() {
  families_->unreadable.Increment();
}

void Metrics::Families::show_requests(const Gauges& gauges) {
  connections.Set(static_cast<double>(gauges.connections));
  raise_to(accepted, gauges.connections_accepted);
  raise_to(pauses, gauges.accept_pauses);
  raise_to(framing, gauges.framing_errors);
  raise_to(timeouts, gauges.timeouts);
  raise_to(dropped, gauges.answers_dropped);
  raise_to(log_dropped, gauges.log_lines_dropped);
  in_flight.Set(static_cast<double>(gauges.requests_in_flight));
  in_flight_bytes.Set(static_cast<double>(gauges.request_bytes_in_flight));
  for (const auto& [share, state] : gauges.replies) {
    reply_bytes.Add({{"share", share}}).Set(static_cast<double>(state.bytes));
    reply_bytes_max.Add({{"share", share}}).Set(static_cast<double>(state.max_bytes));
    raise_to(replies_refused.Add({{"share", share}}), state.refused);
  }
  batch_results.Set(static_cast<double>(gauges.batch_result_bytes));
}

void Metrics::Families::show_store(const Gauges& gauges) {
  queue_depth.Set(static_cast<double>(gauges.queue_depth));
  queue_bytes.Set(static_cast<double>(gauges.queue_bytes));
  store_used.Set(static_cast<double>(gauges.store_used_bytes));
  if (gauges.store_map_bytes) store_map.Add({}).Set(static_cast<double>(*gauges.store_map_bytes));
  store_file.Set(static_cast<double>(gauges.store_file_bytes));
  store_refusing.Set(gauges.store_refusing ? 1 : 0);
  open_runs.Set(static_cast<double>(gauges.open_runs));
  oldest_open_run.Set(static_cast<double>(gauges.oldest_open_run_ms) / 1e3);
}

void Metrics::Families::show_background(const Gauges& gauges) {
  abandoned_calls.Set(static_cast<double>(gauges.abandoned_calls));
  crash_marks.Set(static_cast<double>(gauges.crash_marks));
  clock_in_doubt.Set(gauges.clock_in_doubt ? 1 : 0);
  ledger_entries.Set(static_cast<double>(gauges.ledger_entries));
  ledger_checkpoint_age.Set(static_cast<double>(gauges.ledger_checkpoint_age_ms) / 1e3);
  webhooks_pending.Set(static_cast<double>(gauges.webhooks_pending));
  webhooks_dead.Set(static_cast<double>(gauges.webhooks_dead));
  opinions_waiting.Set(static_cast<double>(gauges.opinions_waiting));
  opinions_dead.Set(static_cast<double>(gauges.opinions_dead));
  opinions_oldest.Set(static_cast<double>(gauges.opinions_oldest_ms) / 1e3);
  webhooks_oldest.Set(static_cast<double>(gauges.webhooks_oldest_pending_ms) / 1e3);
  retention_lag.Set(static_cast<double>(gauges.retention_lag_ms) / 1e3);
}

// Removes the detectors that a reload removed: one that was quarantined would stay so for ever.
void Metrics::Families::show_quarantined(const std::map<std::string, bool>& by_key) {
  for (auto known = quarantined_detectors.begin(); known != quarantined_detectors.end();) {
    if (by_key.contains(known->first)) {
      ++known;
    } else {
      quarantined.Remove(known->second);
      known = quarantined_detectors.erase(known);
    }
  }
  for (const auto& [key, active] : by_key) {
    Gauge*& gauge = quarantined_detectors[key];
    if (gauge == nullptr) gauge = &quarantined.Add({{"detector", key}});
    gauge->Set(active ? 1 : 0);
  }
}

std::string Metrics::page(const Gauges& gauges) {
  Families& all = *families_;
  all.show_requests(gauges);
  all.show_store(gauges);
  all.show_background(gauges);
  {
    const MutexLock lock(all.mutex);
    all.show_quarantined(gauges.detectors_quarantined);
    for (const MetricSample& sample : gauges.engine) all.set(sample);
  }
  return prometheus::TextSerializer().Serialize(all.registry.Collect());
}

}  // namespace runwarden::ops
