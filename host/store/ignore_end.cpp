#include "store/ignore_end.h"

#include <utility>

#include "store/group_codec.h"

namespace runwarden::store {

model::TriageEntry entry_of_service(model::TriageAction action, const model::RecordKey& at) {
  model::TriageEntry entry;
  entry.key = at;
  entry.action = action;
  entry.author = kServiceAuthor;
  entry.for_false_alarms = action == model::TriageAction::ignore;
  return entry;
}

std::optional<model::TriageEntry> ended_before(const model::Triage& triage, std::int64_t at_ms) {
  if (triage.kind != model::Triage::Kind::ignored || !triage.until.at_ms || *triage.until.at_ms > at_ms) return std::nullopt;
  return entry_of_service(model::TriageAction::ignore_ended, {*triage.until.at_ms, 0});
}

std::optional<TriageWrite> end_of_ignore(const model::ClusterKey& cluster, const model::Triage& triage, std::int64_t now_ms,
                                         const std::function<model::LastHour()>& last_hour) {
  auto entry = ended_before(triage, now_ms);
  if (!entry && triage.until.share && model::ignore_is_over(triage, now_ms, last_hour()))
    entry = entry_of_service(model::TriageAction::ignore_ended, {now_ms, 0});
  if (!entry) return std::nullopt;
  TriageWrite write;
  write.cluster = cluster;
  write.entry = std::move(*entry);
  write.ends_ignore_since_ms = triage.since_ms;
  return write;
}

}  // namespace runwarden::store
