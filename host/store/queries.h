// Queries to a store: lists, counts and what may be deleted. Values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/failure_record.h"
#include "model/record_key.h"
#include "model/run_record.h"

namespace runwarden::store {

constexpr std::int64_t kBeginningMs = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kEndMs = std::numeric_limits<std::int64_t>::max();

// Newest first. To walk a list, repeat the query with `after` = the page's `next`: each record appears once, even while new ones arrive.
struct Range {
  std::int64_t since_ms = kBeginningMs;                  // inclusive
  std::int64_t before_ms = kEndMs;                       // exclusive
  std::optional<model::RecordKey> after = std::nullopt;  // only records older than this
  std::size_t limit = 50;
  std::uint64_t max_bytes = std::uint64_t{16} << 20;  // a page ends early rather than exceed it
};

template <class Record>
struct Page {
  std::vector<Record> items;
  std::optional<model::RecordKey> next;  // nothing: there are no more
};

// Whether heads include what they show of a run without its steps (RunRecord::outline).
enum class OutlineToo : std::uint8_t { no, yes };

struct RunQuery {
  Range range = {};  // of receipt
  std::optional<model::RunState> state = std::nullopt;
  std::string detector = {};  // one that found something in the run; empty: any
  std::optional<int> min_score = std::nullopt;  // of a failure of that detector; nothing: runs without failures, too
  std::optional<model::RunSource> source = std::nullopt;
  OutlineToo outlines = OutlineToo::no;  // yes: json_bytes and Range::max_bytes count the outlines
};

struct FailureQuery {
  Range range = {};         // of detection
  std::string run_id = {};  // of that run as it is now; empty: of any
  std::string detector = {};
  std::string fingerprint = {};
  std::optional<model::Severity> severity = std::nullopt;
  int min_score = 0;
  bool shadow = false;                                          // only failures of detectors on trial
  std::optional<model::ReviewVerdict> reviewed = std::nullopt;  // the verdict of the last review; none: failures without a review
};

struct ChangeQuery {
  Range range = {};  // of the change
  std::string kind = {};
};

struct PolicyQuery {
  Range range = {};  // of taking effect
  std::string policy = {};
};

struct FingerprintStats {
  std::uint64_t failures = 0;
  std::int64_t first_ms = 0;  // of detection; 0 without failures
  std::int64_t last_ms = 0;
};

// When an open run is due.
struct BufferRules {
  std::int64_t idle_ms = 5 * 60'000;
  std::int64_t max_age_ms = 24 * 3600'000;
  // For a trace: time since its root arrived, however many spans follow; and, without a root, time since its last span.
  std::int64_t otlp_root_grace_ms = 10'000;
  std::int64_t otlp_idle_ms = 15 * 60'000;
  auto operator<=>(const BufferRules&) const = default;
};

struct OpenRuns {
  std::uint64_t count = 0;
  std::int64_t oldest_age_ms = 0;
};

// A failure that an earlier revision of a run had: it is stored, or somebody reviewed it.
struct EarlierFailure {
  model::RecordKey key;
  std::string detector_key;
  std::string cluster_id;  // model::cluster_id() of its fingerprint
  bool shadow = false;
};

// The events of a claimed run, oldest first.
struct ClaimedRun {
  std::vector<std::string> events;        // with `whole`: without the events before it, which are part of it
  std::optional<model::RunRecord> whole;  // the first revision, if that came as a whole: the events continue it
  std::vector<EarlierFailure> failures;
};

// Records older than these are deleted; kBeginningMs: none. Idempotency records expire by their own time.
struct Retention {
  std::int64_t runs_before_ms = kBeginningMs;  // crash marks too
  std::int64_t failures_before_ms = kBeginningMs;
  std::int64_t changes_before_ms = kBeginningMs;  // histories of groups and reviews too
  std::int64_t policies_before_ms = kBeginningMs;
  std::int64_t deliveries_before_ms = kBeginningMs;  // of webhooks; waiting ones stay while their endpoint is active
  // Only this tenant's records: a purge. A run's failures are deleted with it, and policies even while they are in force.
  std::optional<model::TenantId> tenant = std::nullopt;
  bool open_runs_too = false;  // false: they stay until they are resolved
};

struct Expired {
  std::uint64_t runs = 0;
  std::uint64_t failures = 0;
  std::uint64_t changes = 0;
  std::uint64_t policies = 0;
  std::uint64_t idempotency_keys = 0;
  std::uint64_t crash_marks = 0;
  std::uint64_t triage = 0;  // entries of groups' histories
  std::uint64_t deliveries = 0;
  std::uint64_t reviews = 0;
  std::uint64_t events = 0;  // of the deleted runs; not records of their own
  bool more = false;         // there is more to delete: call again
  void add(const Expired& other) {
    runs += other.runs;
    failures += other.failures;
    changes += other.changes;
    policies += other.policies;
    idempotency_keys += other.idempotency_keys;
    crash_marks += other.crash_marks;
    triage += other.triage;
    deliveries += other.deliveries;
    reviews += other.reviews;
    events += other.events;
    more = other.more;
  }
  std::uint64_t total() const { return runs + failures + changes + policies + idempotency_keys + crash_marks + triage + deliveries + reviews; }
};

// As receipts of purges show them.
using NamedCounts = std::vector<std::pair<const char*, std::uint64_t>>;
inline NamedCounts named_counts(const Expired& gone) {
  return {{"runs", gone.runs},
          {"failures", gone.failures},
          {"events", gone.events},
          {"changes", gone.changes},
          {"policies", gone.policies},
          {"groupDecisions", gone.triage},
          {"webhookDeliveries", gone.deliveries},
          {"reviews", gone.reviews},
          {"idempotentAnswers", gone.idempotency_keys},
          {"crashMarks", gone.crash_marks}};
}

}  // namespace runwarden::store
