// Prometheus metrics: counters and histograms updated by events, gauges set when the page is requested. Names and units follow the
// Prometheus conventions (base units, _total on counters). Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fair_budget.h"
#include "base/metric_sample.h"
#include "base/rate.h"
#include "model/review.h"
#include "model/verdict.h"
#include "model/webhook.h"

namespace runwarden::ops {

// The state of the service at one moment.
struct Gauges {
  std::uint64_t connections = 0;
  std::uint64_t connections_accepted = 0;
  std::uint64_t accept_pauses = 0;
  std::uint64_t framing_errors = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t answers_dropped = 0;
  std::uint64_t log_lines_dropped = 0;
  std::uint64_t requests_in_flight = 0;
  std::uint64_t request_bytes_in_flight = 0;
  std::vector<std::pair<std::string, FairBudget::State>> replies;  // by share
  std::uint64_t batch_result_bytes = 0;
  std::uint64_t queue_depth = 0;
  std::uint64_t queue_bytes = 0;
  std::uint64_t store_used_bytes = 0;
  std::optional<std::uint64_t> store_map_bytes;  // a database has no limit that is known here
  std::uint64_t store_file_bytes = 0;
  bool store_refusing = false;
  std::uint64_t open_runs = 0;
  std::uint64_t abandoned_calls = 0;
  std::uint64_t crash_marks = 0;
  std::map<std::string, bool> detectors_quarantined;  // by key, of all that are loaded
  std::int64_t oldest_open_run_ms = 0;
  bool clock_in_doubt = false;
  std::uint64_t webhooks_pending = 0;
  std::uint64_t webhooks_dead = 0;
  std::int64_t webhooks_oldest_pending_ms = 0;
  std::uint64_t opinions_waiting = 0;
  std::uint64_t opinions_dead = 0;
  std::int64_t opinions_oldest_ms = 0;
  std::uint64_t ledger_entries = 0;
  std::int64_t ledger_checkpoint_age_ms = 0;
  std::int64_t retention_lag_ms = 0;  // since nothing was left to delete; 0 if nothing is
  std::vector<MetricSample> engine;   // what only the store's engine reports
};

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void request(std::string_view route, int status, double seconds, std::uint64_t request_bytes, std::uint64_t answer_bytes);
  void verdict(const model::Verdict& verdict);
  void commit(std::size_t records, double seconds);
  enum class Reload : std::uint8_t { done, refused };
  void reload(Reload result);
  void redacted(std::string_view rule, std::uint64_t values);

  // For OTLP requests.
  void spans(std::uint64_t accepted, std::uint64_t rejected);

  // For an attempt to deliver a message, by the state in which it leaves the delivery.
  void webhook_attempt(model::DeliveryState after);

  // For second opinions: a request to the model; an answer (present, absent, unclear) that was stored; a failed attempt, by a short code;
  // the token usage that the endpoint reports for an answer.
  void opinion_asked();
  void opinion_answer(std::string_view verdict);
  void opinion_failure(std::string_view reason);
  void opinion_tokens(std::uint64_t prompt, std::uint64_t completion);

  // For a review that was stored.
  void review(const std::string& detector, model::ReviewVerdict verdict);
  // For a detector: its reviews of the last 90 days, and the share of them that found it right, if there are enough.
  void detector_reviews(const std::string& detector, const model::ReviewCounts& counts, const std::optional<Interval>& precision);

  // A list skipped a record that could not be read.
  void unreadable_record();

  // The text exposition format, version 0.0.4.
  std::string page(const Gauges& gauges);

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace runwarden::ops
