// What one transaction does to a group, and what follows from it. For the files of store/ only. Pure; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/cluster.h"
#include "store/group_codec.h"

namespace runwarden::store {

// A count that changes, never below 0: what cannot be read has not been counted, and may be taken away all the same.
inline std::uint64_t plus(std::uint64_t count, std::int64_t by) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(static_cast<std::int64_t>(count) + by, 0));
}

// Why a failure goes: its retention is over, it and what was known by it are taken back, or it stays as a false alarm.
enum class Gone : std::uint8_t { expired, taken_back, false_alarm };
// Why it comes: it was found, or it was a false alarm and is not any more.
enum class Comes : std::uint8_t { found, restored };

struct ClusterChange {
  std::uint64_t added = 0;     // failures
  std::uint64_t restored = 0;  // of those: they were false alarms, and are not any more
  std::uint64_t removed = 0;
  std::uint64_t marked = 0;    // of those: they stay, as false alarms
  std::map<int, std::int64_t> scores;
  std::array<std::int64_t, 4> severities{};
  std::int64_t waste_micro_usd = 0;
  model::RecordKey newest;  // of those that were added
  std::int64_t first_ms = 0;
  std::string title;  // of the newest
  std::string fingerprint;
  std::string detector_key;
  std::int64_t executed_ms = model::kNotExecuted;  // the latest start of a run whose failure was added
  bool first_stays = true;                         // what was removed had expired: the group is as old as before
  std::optional<std::int64_t> first_marked_ms;     // of those that are false alarms
  // Since when the group was known where an import's reviews come from: their false alarms are considered in it.
  std::optional<std::int64_t> known_since_ms;
  std::vector<std::uint64_t> summary_marks;        // of those that were found
  // The last review of one of its failures, and whether any said that a failure is one after all.
  std::optional<model::RecordKey> review;
  bool confirmed = false;

  // Failures that were added, where somebody is to be told of each.
  struct Told {
    model::RecordKey key;
    int score = 0;
    model::Severity severity = model::Severity::low;
  };
  std::vector<Told> told;

  void add(const model::FailureRecord& failure, Comes comes = Comes::found);
  void remove(const model::FailureRecord& failure, Gone gone);
  // By how many failures the group grows.
  std::int64_t net() const { return static_cast<std::int64_t>(added) - static_cast<std::int64_t>(removed); }
  std::uint64_t found() const { return added - restored; }
};

// The head of a group that begins with this change, before the change is applied.
ClusterHead begin_cluster(const model::ClusterKey& key, const ClusterChange& change);
void apply(ClusterHead& head, const ClusterChange& change);

// Which failures of the group there are now; asked where some have gone.
struct Outermost {
  std::optional<model::RecordKey> oldest;  // where the first may have gone
  model::RecordKey newest;
  std::string title;  // of the newest; empty: it cannot be read
};
void look_again(ClusterHead& head, const ClusterChange& change, const Outermost& now);
// Whether the group's first failure may have gone with this change.
bool first_may_go(const ClusterHead& head, const ClusterChange& change);

// Puts a decision into the head, and the state after it into the entry.
void decide(ClusterHead& head, model::TriageEntry& entry);
// An ignore that was over when somebody decides at `at_ms`: the entry that says so.
std::optional<model::TriageEntry> ended_before(const model::Triage& triage, std::int64_t at_ms);
// What the failures that were added, and the time, make of what people decided; nothing: it stays. The last hour is asked for only where an ignore goes by it.
std::optional<model::TriageEntry> service_decision(const ClusterHead& head, const ClusterChange& change, std::int64_t now_ms,
                                                   const std::function<model::LastHour()>& last_hour);
constexpr std::int64_t kLastHourMs = 3'600'000;

// What reviews make of the group: one whose failures are all false alarms is ignored until one is not. The question is asked only where it matters.
std::optional<model::TriageEntry> review_decision(const ClusterHead& head, const ClusterChange& change, std::int64_t now_ms,
                                                  const std::function<bool()>& all_are_false_alarms);
// Whether the marks of the summaries of its false alarms have to be looked up again.
bool needs_marks(const ClusterHead& head, const ClusterChange& change);
constexpr std::size_t kMostFalseAlarms = 1024;  // of a group, that are looked at for their marks
constexpr std::size_t kMostMarks = 64;
// Adds a failure's mark where it is not there yet.
void add_mark(std::vector<std::uint64_t>& marks, const model::FailureRecord& failure);

}  // namespace runwarden::store
