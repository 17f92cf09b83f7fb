// Queries to a store: lists and counts, and the open runs. Values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
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

// The record of that key alone, if there is one.
inline Range only(const model::RecordKey& key) {
  Range range;
  range.since_ms = key.time_ms;
  range.after = model::RecordKey{key.time_ms, key.seq + 1};
  range.limit = 1;
  return range;
}

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

}  // namespace runwarden::store
