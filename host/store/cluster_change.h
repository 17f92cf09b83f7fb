// What one transaction does to a group, and what follows from it. Internal to store/. Pure; any thread.
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
#include "store/ignore_end.h"
#include "store/review_writes.h"

namespace runwarden::store {

// Adds to a count, but never goes below 0: a record that could not be read was not counted, yet may be removed.
inline std::uint64_t plus(std::uint64_t count, std::int64_t by) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(static_cast<std::int64_t>(count) + by, 0));
}

// Why a failure leaves its group: it expired, it was withdrawn with all that was known from it, it stays as a false alarm, or the next
// revision of its run has it again.
enum class Removal : std::uint8_t { expired, taken_back, false_alarm, replaced };
// Why a failure joins its group: it was found, it is not a false alarm after all, or an earlier revision of its run had it.
enum class Addition : std::uint8_t { found, restored, again };

struct ClusterChange {
  std::uint64_t added = 0;     // failures
  std::uint64_t again = 0;     // of the added: earlier revisions had them
  std::uint64_t removed = 0;
  std::uint64_t replaced = 0;  // of the removed: the next revisions have them again
  std::map<int, std::int64_t> scores;
  std::array<std::int64_t, 4> severities{};
  std::int64_t waste_micro_usd = 0;
  model::RecordKey newest;  // of the added failures
  std::int64_t first_ms = 0;
  std::vector<std::int64_t> restored_ms;  // detection times of those among the added that were false alarms
  std::vector<std::int64_t> marked_ms;    // likewise, of those among the removed that stay as false alarms
  std::string title;  // of the newest
  std::string fingerprint;
  std::string detector_key;
  std::int64_t executed_ms = model::kNotExecuted;  // the latest start of a run whose failure was added
  bool first_stays = true;                         // no removed failure was withdrawn: the group is as old as before
  // From an import: since when the exporting store knew the group, its false alarms included.
  std::optional<std::int64_t> known_since_ms;
  std::vector<std::uint64_t> summary_marks;  // of the failures that were found
  // The last review of one of its failures, and whether any review confirmed a failure.
  std::optional<model::RecordKey> review;
  bool confirmed = false;

  // An added failure that triggers webhooks.
  struct NewFailure {
    model::RecordKey key;
    int score = 0;
    model::Severity severity = model::Severity::low;
  };
  std::vector<NewFailure> told;

  void add(const model::FailureRecord& failure, Addition comes = Addition::found);
  void remove(const model::FailureRecord& failure, Removal gone);
  // By how many failures the group grows.
  std::int64_t net() const { return static_cast<std::int64_t>(added) - static_cast<std::int64_t>(removed); }
  std::uint64_t found() const { return added - restored_ms.size() - again; }
};

// The head of a group that begins with this change, before apply().
ClusterHead begin_cluster(const model::ClusterKey& key, const ClusterChange& change);
void apply(ClusterHead& head, const ClusterChange& change);

// The failures at both ends of the group, looked up after some were removed.
struct Outermost {
  std::optional<model::RecordKey> oldest;  // set if the first failure may be gone
  model::RecordKey newest;
  std::string title;  // of the newest; empty if it cannot be read
};
void look_again(ClusterHead& head, const ClusterChange& change, const Outermost& now);
// Whether this change may have removed the group's first failure.
bool first_may_go(const ClusterHead& head, const ClusterChange& change);

// Stores a decision in the head, and the resulting state in the entry.
void decide(ClusterHead& head, model::TriageEntry& entry);
// The entries that a decision adds to the history of a group, oldest first: before a person's decision, one for an ignore that had already
// expired; none if the decision ends an ignore that is not in force any more.
std::vector<model::TriageEntry> entries_of(const TriageWrite& write, const model::Triage& triage);
// The decision that follows from added failures and from the time; nothing if the current one remains. `last_hour` is called only if an
// ignore depends on it.
std::optional<model::TriageEntry> service_decision(const ClusterHead& head, const ClusterChange& change, std::int64_t now_ms,
                                                   const std::function<model::LastHour()>& last_hour);

// The decision that follows from reviews: a group is ignored while all of its failures are false alarms. `all_are_false_alarms` is called
// only if it matters.
std::optional<model::TriageEntry> review_decision(const ClusterHead& head, const ClusterChange& change, std::int64_t now_ms,
                                                  const std::function<bool()>& all_are_false_alarms);
// Whether the summary marks of the group's false alarms have to be looked up again.
bool needs_marks(const ClusterHead& head, const ClusterChange& change);
constexpr std::size_t kMostFalseAlarms = 1024;  // of a group, examined for their marks
constexpr std::size_t kMostMarks = 64;
// Adds a failure's mark unless it is already there.
void add_mark(std::vector<std::uint64_t>& marks, const model::FailureRecord& failure);

}  // namespace runwarden::store
