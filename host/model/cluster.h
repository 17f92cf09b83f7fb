// Groups of failures with the same fingerprint, and their triage: what people decided about a group and what follows from it. Pure; any
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/failure_record.h"
#include "model/record_key.h"

namespace runwarden::model {

// The first 16 bytes of the fingerprint's SHA-256.
using ClusterKey = std::array<char, 16>;

ClusterKey cluster_key(std::string_view fingerprint);
// cl_ and the first 20 hexadecimal digits.
std::string cluster_id(const ClusterKey& key);
// The 10 bytes that an id encodes; nothing if the text is not an id.
std::optional<std::string> parse_cluster_id(std::string_view id);

enum class ClusterState : std::uint8_t { fresh, ongoing, resolved, ignored, regressed };
const char* name(ClusterState state);  // fresh is "new"
std::optional<ClusterState> cluster_state(std::string_view name);

// People request the first three; the service performs the others.
enum class TriageAction : std::uint8_t { resolve, ignore, reopen, regressed, ignore_ended };
const char* name(TriageAction action);
std::optional<TriageAction> triage_action(std::string_view name);

// What ends an ignore. If all are empty, only people end it.
struct IgnoreUntil {
  std::optional<std::int64_t> at_ms;
  std::optional<std::uint64_t> failures;  // since the ignore
  std::optional<double> share;            // of the last hour's runs that fail this way, in (0, 1]
  bool operator==(const IgnoreUntil&) const = default;
};
constexpr std::uint64_t kFewestSharedRuns = 20;  // minimum in the last hour for a share to count

// The triage state stored with a group.
struct Triage {
  enum class Kind : std::uint8_t { none, ongoing, resolved, ignored, regressed };
  Kind kind = Kind::none;
  std::int64_t since_ms = 0;
  std::int64_t fixed_ms = 0;  // resolved: only a run that executed later regresses the group
  IgnoreUntil until;          // ignored
  std::uint64_t failures_since = 0;
  // Whether the service ignores the group because all its failures are false alarms, and the marks of their summaries, newest first. A
  // failure with a different mark ends the ignore.
  bool for_false_alarms = false;
  std::vector<std::uint64_t> false_alarm_marks;
  bool operator==(const Triage&) const = default;
};

// One entry of a group's history.
struct TriageEntry {
  RecordKey key;  // time of the entry
  TriageAction action = TriageAction::resolve;
  std::string author;  // name of the API key, or "runwarden"
  std::string note;
  std::string fixed_by;  // changeId; empty: none
  std::int64_t fixed_ms = 0;
  IgnoreUntil until;
  ClusterState state = ClusterState::fresh;  // after the action
  bool for_false_alarms = false;             // an ignore by the service itself
};
constexpr const char* kFalseAlarmsReason = "false_alarms";

constexpr std::int64_t kFreshMs = 7 * 86'400'000LL;

struct StateSince {
  ClusterState state = ClusterState::fresh;
  std::int64_t since_ms = 0;
};
StateSince state_of(const Triage& triage, std::int64_t first_ms, std::int64_t now_ms);

// The triage state after the action that was requested at `entry.key.time_ms`.
Triage triaged(const TriageEntry& entry);

// Whether a failure in a run that executed then makes a resolved group regress.
bool regresses(const Triage& triage, std::int64_t executed_ms);

// Whether an ignore has ended. `last_hour` is needed only if the share counts.
struct LastHour {
  std::uint64_t affected = 0;
  std::uint64_t runs = 0;
};
bool ignore_is_over(const Triage& triage, std::int64_t now_ms, const std::optional<LastHour>& last_hour);

// A group of a tenant's failures, with totals over all of them.
struct Cluster {
  ClusterKey key{};
  std::string fingerprint;
  std::string detector_key;
  std::string title;                    // of the newest failure
  Severity severity = Severity::low;    // highest of the stored failures
  int max_score = 0;                    // likewise
  std::uint64_t count = 0;              // failures
  std::int64_t waste_micro_usd = 0;     // their sum
  std::int64_t first_ms = 0;            // of detection
  std::int64_t last_ms = 0;
  Triage triage;
};

// The run revision of the failure according to its JSON; 1 if the JSON has none.
std::uint32_t revision_of(const FailureRecord& failure);
// Fills in the title, waste and summary mark of a failure from its JSON.
void read_summary(FailureRecord& failure);
// The title as stored: cut at kMostTitleBytes, between characters.
std::string kept_title(std::string_view title);
// Equal only for equal summaries, up to collisions of a 64-bit digest; never 0.
std::uint64_t summary_mark(std::string_view summary);
std::int64_t micro_usd(double usd);

}  // namespace runwarden::model
