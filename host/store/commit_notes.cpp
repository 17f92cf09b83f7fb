#include "store/commit_notes.h"

#include <variant>

namespace runwarden::store {

void CommitNotes::note(model::TenantId tenant, TailItem::Kind kind, const model::RecordKey& record) {
  std::vector<TailItem>& items = items_[tenant];
  const TailItem item{kind, 0, record};
  // Consecutive changes become one item, and so do consecutive notes of one run.
  const auto same = [&](const TailItem& one) { return one.kind == kind && one.record == record; };
  if (!items.empty() && (kind == TailItem::Kind::other || same(items.back()))) return;
  if (!items.empty() && items.front().kind == TailItem::Kind::other) items.erase(items.begin());
  items.push_back(item);
}

void CommitNotes::note_events(model::TenantId tenant, const WriteResult& result) {
  if (result.outcome == WriteResult::Outcome::stored && result.buffered) note(tenant, TailItem::Kind::run, result.buffered->run);
}

void CommitNotes::note(const Write& write, const WriteResult& result) {
  if (result.outcome != WriteResult::Outcome::stored) return;
  const model::TenantId tenant = tenant_of(write);
  if (const auto* const run = std::get_if<RunWrite>(&write)) {
    note(tenant, TailItem::Kind::run, run->run.key);
    for (const model::FailureRecord& failure : run->failures) {
      if (!failure.shadow) note(tenant, TailItem::Kind::failure, failure.key);
    }
  }
  const bool is_other = std::holds_alternative<ChangeWrite>(write) || std::holds_alternative<PolicyWrite>(write) ||
                        std::holds_alternative<TriageWrite>(write) || std::holds_alternative<ReviewWrite>(write);
  if (is_other) note(tenant);
  // A run that exists already has another place than the write says; the result has the right one.
  note_events(tenant, result);
  for (const WriteResult& trace : result.traces) note_events(tenant, trace);
}

}  // namespace runwarden::store
