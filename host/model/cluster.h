// Groups of failures with one fingerprint, and their triage: what people decided about a group, and what follows from it. Pure; any
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/records.h"

namespace runwarden::model {

// The first 16 bytes of the fingerprint's SHA-256.
using ClusterKey = std::array<char, 16>;

ClusterKey cluster_key(std::string_view fingerprint);
// cl_ and the first 20 hexadecimal digits.
std::string cluster_id(const ClusterKey& key);
// The 10 bytes that an id spells; nothing for a text that is not an id.
std::optional<std::string> parse_cluster_id(std::string_view id);

enum class ClusterState : std::uint8_t { fresh, ongoing, resolved, ignored, regressed };
const char* name(ClusterState state);  // fresh is "new"
std::optional<ClusterState> cluster_state(std::string_view name);

// The first three are asked for by people; the service does the others.
enum class TriageAction : std::uint8_t { resolve, ignore, reopen, regressed, ignore_ended };
const char* name(TriageAction action);
std::optional<TriageAction> triage_action(std::string_view name);

// What ends an ignore. Nothing of it: only people do.
struct IgnoreUntil {
  std::optional<std::int64_t> at_ms;
  std::optional<std::uint64_t> failures;  // since the ignore
  std::optional<double> share;            // of the runs of the last hour that fail in this way, in (0, 1]
  bool operator==(const IgnoreUntil&) const = default;
};
constexpr std::uint64_t kFewestSharedRuns = 20;  // in the last hour, for a share to count

// What is kept of a group's triage beside the group.
struct Triage {
  enum class Kind : std::uint8_t { none, ongoing, resolved, ignored, regressed };
  Kind kind = Kind::none;
  std::int64_t since_ms = 0;
  std::int64_t fixed_ms = 0;  // resolved: only a run that ran later regresses the group
  IgnoreUntil until;          // ignored
  std::uint64_t failures_since = 0;
  // Ignored by the service, as all of the group's failures are false alarms; with the marks of their summaries, newest first: a failure with
  // another one ends it.
  bool for_false_alarms = false;
  std::vector<std::uint64_t> false_alarm_marks;
  bool operator==(const Triage&) const = default;
};

// One line of a group's history.
struct TriageEntry {
  RecordKey key;  // when it was
  TriageAction action = TriageAction::resolve;
  std::string author;  // name of the API key, or "runwarden"
  std::string note;
  std::string fixed_by;  // changeId; empty: none
  std::int64_t fixed_ms = 0;
  IgnoreUntil until;
  ClusterState state = ClusterState::fresh;  // after it
  bool for_false_alarms = false;             // an ignore of the service's own
};
constexpr const char* kFalseAlarmsReason = "false_alarms";

constexpr std::int64_t kFreshMs = 7 * 86'400'000LL;

struct StateSince {
  ClusterState state = ClusterState::fresh;
  std::int64_t since_ms = 0;
};
StateSince state_of(const Triage& triage, std::int64_t first_ms, std::int64_t now_ms);

// The triage after what somebody asked for at `entry.key.time_ms`.
Triage triaged(const TriageEntry& entry);

// Whether the failure of a run that ran then makes a resolved group regressed.
bool regresses(const Triage& triage, std::int64_t executed_ms);

// Whether an ignore is over. The share of the last hour is asked for only where it counts.
struct LastHour {
  std::uint64_t affected = 0;
  std::uint64_t runs = 0;
};
bool ignore_is_over(const Triage& triage, std::int64_t now_ms, const std::optional<LastHour>& last_hour);

// A group of a tenant's failures, with what is kept of all of them.
struct Cluster {
  ClusterKey key{};
  std::string fingerprint;
  std::string detector_key;
  std::string title;                    // of the newest failure
  Severity severity = Severity::low;    // the highest that is kept
  int max_score = 0;                    // likewise
  std::uint64_t count = 0;              // failures
  std::int64_t waste_micro_usd = 0;     // their sum
  std::int64_t first_ms = 0;            // of detection
  std::int64_t last_ms = 0;
  Triage triage;
};

// The revision of the run that a failure was found in, as its JSON says; 1 where it does not.
std::uint32_t revision_of(const FailureRecord& failure);
// Fills in title, waste and the summary's mark of a failure from its JSON.
void read_summary(FailureRecord& failure);
// The title as it is kept: cut at kMostTitleBytes, between characters.
std::string kept_title(std::string_view title);
// Equal for equal summaries only, as far as 64 bits of a digest tell; never 0.
std::uint64_t summary_mark(std::string_view summary);
std::int64_t micro_usd(double usd);

}  // namespace runwarden::model
