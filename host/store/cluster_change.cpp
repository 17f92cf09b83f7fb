#include "store/cluster_change.h"

namespace runwarden::store {
namespace {

model::TriageEntry entry_of_service(model::TriageAction action, const model::RecordKey& at) {
  model::TriageEntry entry;
  entry.key = at;
  entry.action = action;
  entry.author = kServiceAuthor;
  entry.for_false_alarms = action == model::TriageAction::ignore;
  return entry;
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
  if (comes == Addition::restored) return static_cast<void>(++restored);
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
  if (gone != Removal::false_alarm) return;
  ++marked;
  first_marked_ms = std::min(first_marked_ms.value_or(failure.key.time_ms), failure.key.time_ms);
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
  const std::uint64_t gone = change.removed - change.marked - change.replaced;
  if (change.found() > gone) cluster.triage.failures_since += change.found() - gone;
  head.settle();
}

bool first_may_go(const ClusterHead& head, const ClusterChange& change) {
  return !change.first_stays || (change.first_marked_ms && *change.first_marked_ms <= head.cluster.first_ms);
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

std::optional<model::TriageEntry> ended_before(const model::Triage& triage, std::int64_t at_ms) {
  if (triage.kind != model::Triage::Kind::ignored || !triage.until.at_ms || *triage.until.at_ms > at_ms) return std::nullopt;
  model::TriageEntry ended = entry_of_service(model::TriageAction::ignore_ended, {*triage.until.at_ms, 0});
  ended.state = model::ClusterState::ongoing;
  return ended;
}

std::optional<model::TriageEntry> service_decision(const ClusterHead& head, const ClusterChange& change, std::int64_t now_ms,
                                                   const std::function<model::LastHour()>& last_hour) {
  const model::Triage& triage = head.cluster.triage;
  if (change.found() == 0) return std::nullopt;
  if (model::regresses(triage, change.executed_ms)) return entry_of_service(model::TriageAction::regressed, {now_ms, change.newest.seq});
  if (triage.kind != model::Triage::Kind::ignored) return std::nullopt;
  if (triage.until.at_ms && now_ms >= *triage.until.at_ms)
    return entry_of_service(model::TriageAction::ignore_ended, {*triage.until.at_ms, 0});
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
  if (triage.for_false_alarms && (change.restored > 0 || change.confirmed)) return entry_of_service(model::TriageAction::ignore_ended, at);
  const bool ignored = model::state_of(triage, head.cluster.first_ms, now_ms).state == model::ClusterState::ignored;
  if (ignored || head.cluster.count > 0 || !all_are_false_alarms()) return std::nullopt;
  return entry_of_service(model::TriageAction::ignore, at);
}

bool needs_marks(const ClusterHead& head, const ClusterChange& change) {
  const model::Triage& triage = head.cluster.triage;
  return triage.for_false_alarms && (change.marked > 0 || triage.false_alarm_marks.empty());
}

void add_mark(std::vector<std::uint64_t>& marks, const model::FailureRecord& failure) {
  if (std::find(marks.begin(), marks.end(), failure.summary_mark) == marks.end()) marks.push_back(failure.summary_mark);
}

}  // namespace runwarden::store
