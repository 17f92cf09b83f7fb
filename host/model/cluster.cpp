#include "model/cluster.h"

#include <algorithm>

#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "base/digest.h"
#include "base/hex.h"
#include "base/json_members.h"
#include "base/utf8.h"

namespace runwarden::model {
namespace {

constexpr std::string_view kIdPrefix = "cl_";
constexpr std::size_t kIdBytes = 10;

template <class Enum, std::size_t N>
std::optional<Enum> named(std::string_view text, const std::array<Enum, N>& all) {
  const auto found = std::find_if(all.begin(), all.end(), [&](Enum one) { return text == name(one); });
  if (found == all.end()) return std::nullopt;
  return *found;
}

}  // namespace

ClusterKey cluster_key(std::string_view fingerprint) {
  const Digest256 digest = sha256(fingerprint);
  ClusterKey key{};
  std::copy_n(reinterpret_cast<const char*>(digest.data()), key.size(), key.begin());
  return key;
}

std::string cluster_id(const ClusterKey& key) {
  return std::string(kIdPrefix) + bytes_to_hex({key.data(), kIdBytes});
}

std::optional<std::string> parse_cluster_id(std::string_view id) {
  if (!id.starts_with(kIdPrefix) || id.size() != kIdPrefix.size() + kIdBytes * 2) return std::nullopt;
  id.remove_prefix(kIdPrefix.size());
  if (std::any_of(id.begin(), id.end(), ascii::is_upper)) return std::nullopt;
  return bytes_from_hex(id);
}

const char* name(ClusterState state) {
  switch (state) {
    case ClusterState::fresh: return "new";
    case ClusterState::ongoing: return "ongoing";
    case ClusterState::resolved: return "resolved";
    case ClusterState::ignored: return "ignored";
    case ClusterState::regressed: break;
  }
  return "regressed";
}

std::optional<ClusterState> cluster_state(std::string_view text) {
  return named(text, std::array{ClusterState::fresh, ClusterState::ongoing, ClusterState::resolved, ClusterState::ignored,
                                ClusterState::regressed});
}

const char* name(TriageAction action) {
  switch (action) {
    case TriageAction::resolve: return "resolve";
    case TriageAction::ignore: return "ignore";
    case TriageAction::reopen: return "reopen";
    case TriageAction::regressed: return "regressed";
    case TriageAction::ignore_ended: break;
  }
  return "ignore_ended";
}

std::optional<TriageAction> triage_action(std::string_view text) {
  return named(text, std::array{TriageAction::resolve, TriageAction::ignore, TriageAction::reopen, TriageAction::regressed,
                                TriageAction::ignore_ended});
}

StateSince state_of(const Triage& triage, std::int64_t first_ms, std::int64_t now_ms) {
  switch (triage.kind) {
    case Triage::Kind::resolved: return {ClusterState::resolved, triage.since_ms};
    case Triage::Kind::regressed: return {ClusterState::regressed, triage.since_ms};
    case Triage::Kind::ongoing: return {ClusterState::ongoing, triage.since_ms};
    case Triage::Kind::ignored:
      if (triage.until.at_ms && now_ms >= *triage.until.at_ms) return {ClusterState::ongoing, *triage.until.at_ms};
      return {ClusterState::ignored, triage.since_ms};
    case Triage::Kind::none: break;
  }
  if (now_ms - first_ms < kFreshMs) return {ClusterState::fresh, std::max(first_ms, triage.since_ms)};
  return {ClusterState::ongoing, std::max(first_ms + kFreshMs, triage.since_ms)};
}

Triage triaged(const TriageEntry& entry) {
  Triage triage;
  triage.since_ms = entry.key.time_ms;
  switch (entry.action) {
    case TriageAction::resolve:
      triage.kind = Triage::Kind::resolved;
      triage.fixed_ms = std::max(entry.key.time_ms, entry.fixed_ms);
      break;
    case TriageAction::ignore:
      triage.kind = Triage::Kind::ignored;
      triage.until = entry.until;
      triage.for_false_alarms = entry.for_false_alarms;
      break;
    case TriageAction::reopen: break;
    case TriageAction::regressed: triage.kind = Triage::Kind::regressed; break;
    case TriageAction::ignore_ended: triage.kind = Triage::Kind::ongoing; break;
  }
  return triage;
}

bool regresses(const Triage& triage, std::int64_t executed_ms) {
  return triage.kind == Triage::Kind::resolved && executed_ms > triage.fixed_ms;
}

bool ignore_is_over(const Triage& triage, std::int64_t now_ms, const std::optional<LastHour>& last_hour) {
  if (triage.kind != Triage::Kind::ignored) return false;
  const IgnoreUntil& until = triage.until;
  if (until.at_ms && now_ms >= *until.at_ms) return true;
  if (until.failures && triage.failures_since >= *until.failures) return true;
  if (!until.share || !last_hour || last_hour->runs < kFewestSharedRuns) return false;
  return static_cast<double>(last_hour->affected) >= *until.share * static_cast<double>(last_hour->runs);
}

std::string kept_title(std::string_view title) {
  return std::string(utf8_prefix(title, kMostTitleBytes));
}

std::uint64_t summary_mark(std::string_view summary) {
  const Digest256 digest = sha256(summary);
  std::uint64_t mark = 0;
  for (std::size_t i = 0; i < sizeof mark; ++i) mark = mark << 8 | digest[i];
  return std::max<std::uint64_t>(mark, 1);
}

std::int64_t micro_usd(double usd) {
  constexpr double kMostUsd = 1e9;  // small enough that sums of many do not overflow
  return static_cast<std::int64_t>(std::llround(std::clamp(usd, 0.0, kMostUsd) * 1e6));
}

std::uint32_t revision_of(const FailureRecord& failure) {
  const auto revision = json_member_view(failure.json, "revision");
  return revision ? static_cast<std::uint32_t>(std::strtoul(std::string(*revision).c_str(), nullptr, 10)) : 1;
}

void read_summary(FailureRecord& failure) {
  failure.title.clear();
  failure.waste_micro_usd = 0;
  failure.summary_mark = summary_mark({});
  for (const JsonMember& member : json_members(failure.json)) {
    if (member.name == "title") failure.title = kept_title(json_string_value(member.json));
    if (member.name == "summary") failure.summary_mark = summary_mark(json_string_value(member.json));
    if (member.name != "estimatedWasteUsd") continue;
    double usd = 0;
    if (std::from_chars(member.json.data(), member.json.data() + member.json.size(), usd).ec == std::errc())
      failure.waste_micro_usd = micro_usd(usd);
  }
}

}  // namespace runwarden::model
