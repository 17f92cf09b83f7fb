#include "store/cluster_change.h"

namespace runwarden::store {
namespace {

// Counts the failures since the decision. A false alarm among them does not count; one from before the decision never did.
void count_since(model::Triage& triage, const ClusterChange& change) {
  const auto since = [&](const std::vector<std::int64_t>& times) {
    return std::count_if(times.begin(), times.end(), [&](std::int64_t time_ms) { return time_ms > triage.since_ms; });
  };
  const auto gone = static_cast<std::int64_t>(change.removed - change.marked_ms.size() - change.replaced);
  const std::int64_t found = std::max<std::int64_t>(static_cast<std::int64_t>(change.found()) - gone, 0);
  triage.failures_since = plus(triage.failures_since, found + since(change.restored_ms) - since(change.marked_ms));
}

}  // namespace

void ClusterChange::add(const model::FailureRecord& failure, Addition comes) {
  ++added;
  scores[failure.score] += 1;
  severities[static_cast<std::size_t>(failure.severity)] += 1;
  waste_micro_usd += failure.waste_micro_usd;
  if (added == 1 || failure.key.time_ms < first_ms) first_ms = failure.key.time_ms;
  if (added == 1 || newest < failure.key) {
    newest = failure.key;
    title = failure.title;
    fingerprint = failure.fingerprint;
    detector_key = failure.detector_key;
  }
  if (comes == Addition::restored) return restored_ms.push_back(failure.key.time_ms);
  if (comes == Addition::again) return static_cast<void>(++again);
  executed_ms = std::max(executed_ms, failure.executed_ms);
  summary_marks.push_back(failure.summary_mark);
}

void ClusterChange::remove(const model::FailureRecord& failure, Removal gone) {
  ++removed;
  scores[failure.score] -= 1;
  severities[static_cast<std::size_t>(failure.severity)] -= 1;
  waste_micro_usd -= failure.waste_micro_usd;
  first_stays = first_stays && gone != Removal::taken_back;
  if (gone == Removal::replaced) ++replaced;
  if (gone == Removal::false_alarm) marked_ms.push_back(failure.key.time_ms);
}

ClusterHead begin_cluster(const model::ClusterKey& key, const ClusterChange& change) {
  ClusterHead head;
  head.cluster.key = key;
  head.cluster.fingerprint = change.fingerprint;
  head.cluster.detector_key = change.detector_key;
  head.cluster.first_ms = change.first_ms;
  head.cluster.last_ms = change.newest.time_ms;
  return head;
}

void apply(ClusterHead& head, const ClusterChange& change) {
  model::Cluster& cluster = head.cluster;
  const bool was_empty = cluster.count == 0;
  cluster.count = plus(cluster.count, change.net());
  for (const auto& [score, by] : change.scores) head.scores[score] = plus(head.scores[score], by);
  for (std::size_t i = 0; i < head.severities.size(); ++i) head.severities[i] = plus(head.severities[i], change.severities[i]);
  cluster.waste_micro_usd += change.waste_micro_usd;
  if (change.added > 0) {
    cluster.first_ms = std::min(cluster.first_ms, change.first_ms);
    if (change.newest.time_ms >= cluster.last_ms || was_empty) cluster.title = change.title;
    cluster.last_ms = was_empty ? change.newest.time_ms : std::max(cluster.last_ms, change.newest.time_ms);
  }
  if (change.known_since_ms && first_may_go(head, change)) cluster.first_ms = *change.known_since_ms;
  count_since(cluster.triage, change);
  head.settle();
}

bool first_may_go(const ClusterHead& head, const ClusterChange& change) {
  const auto is_first = [&](std::int64_t time_ms) { return time_ms <= head.cluster.first_ms; };
  return !change.first_stays || std::any_of(change.marked_ms.begin(), change.marked_ms.end(), is_first);
}

void look_again(ClusterHead& head, const ClusterChange& change, const Outermost& now) {
  if (now.oldest) head.cluster.first_ms = std::min(change.known_since_ms.value_or(now.oldest->time_ms), now.oldest->time_ms);
  head.cluster.last_ms = now.newest.time_ms;
  if (!now.title.empty()) head.cluster.title = now.title;
}

void decide(ClusterHead& head, model::TriageEntry& entry) {
  head.cluster.triage = model::triaged(entry);
  entry.state = model::state_of(head.cluster.triage, head.cluster.first_ms, entry.key.time_ms).state;
}

std::vector<model::TriageEntry> entries_of(const TriageWrite& write, const model::Triage& triage) {
  if (!write.ends_ignore_since_ms) {
    std::vector<model::TriageEntry> entries{write.entry};
    if (auto ended = ended_before(triage, write.entry.key.time_ms)) entries.insert(entries.begin(), std::move(*ended));
    return entries;
  }
  const bool in_force = triage.kind == model::Triage::Kind::ignored && triage.since_ms == *write.ends_ignore_since_ms;
  return in_force ? std::vector{write.entry} : std::vector<model::TriageEntry>();
}

std::optional<model::TriageEntry> service_decision(const ClusterHead& head, const ClusterChange& change, std::int64_t now_ms,
                                                   const std::function<model::LastHour()>& last_hour) {
  const model::Triage& triage = head.cluster.triage;
  if (change.found() == 0 && change.restored_ms.empty()) return std::nullopt;
  if (model::regresses(triage, change.executed_ms)) return entry_of_service(model::TriageAction::regressed, {now_ms, change.newest.seq});
  if (triage.kind != model::Triage::Kind::ignored) return std::nullopt;
  if (auto ended = ended_before(triage, now_ms)) return ended;
  const auto is_new = [&](std::uint64_t mark) {
    return std::find(triage.false_alarm_marks.begin(), triage.false_alarm_marks.end(), mark) == triage.false_alarm_marks.end();
  };
  const bool differs = triage.for_false_alarms && std::any_of(change.summary_marks.begin(), change.summary_marks.end(), is_new);
  const auto hour = !differs && triage.until.share ? std::optional(last_hour()) : std::nullopt;
  if (!differs && !model::ignore_is_over(triage, now_ms, hour)) return std::nullopt;
  return entry_of_service(model::TriageAction::ignore_ended, {now_ms, change.newest.seq});
}

std::optional<model::TriageEntry> review_decision(const ClusterHead& head, const ClusterChange& change, std::int64_t now_ms,
                                                  const std::function<bool()>& all_are_false_alarms) {
  const model::Triage& triage = head.cluster.triage;
  const model::RecordKey at{now_ms, change.review.value_or(change.newest).seq};
  if (triage.for_false_alarms && (!change.restored_ms.empty() || change.confirmed))
    return entry_of_service(model::TriageAction::ignore_ended, at);
  const bool ignored = model::state_of(triage, head.cluster.first_ms, now_ms).state == model::ClusterState::ignored;
  if (ignored || head.cluster.count > 0 || !all_are_false_alarms()) return std::nullopt;
  return entry_of_service(model::TriageAction::ignore, at);
}

bool needs_marks(const ClusterHead& head, const ClusterChange& change) {
  const model::Triage& triage = head.cluster.triage;
  return triage.for_false_alarms && (!change.marked_ms.empty() || triage.false_alarm_marks.empty());
}

void add_mark(std::vector<std::uint64_t>& marks, const model::FailureRecord& failure) {
  if (std::find(marks.begin(), marks.end(), failure.summary_mark) == marks.end()) marks.push_back(failure.summary_mark);
}

}  // namespace runwarden::store
