// Collects what one transaction committed, for the tail. Internal to store/. Pure; any thread.
#pragma once

#include <map>
#include <vector>

#include "store/commit_tail.h"
#include "store/write_result.h"
#include "store/writes.h"

namespace runwarden::store {

class CommitNotes {
 public:
  void note(model::TenantId tenant, TailItem::Kind kind, const model::RecordKey& record);
  void note(model::TenantId tenant) { note(tenant, TailItem::Kind::other, {}); }
  // Notes a write by its result, if it was stored.
  void note(const Write& write, const WriteResult& result);

  // By tenant; no list is empty.
  const std::map<model::TenantId, std::vector<TailItem>>& items() const { return items_; }
  void clear() { items_.clear(); }

 private:
  void note_events(model::TenantId tenant, const WriteResult& result);

  std::map<model::TenantId, std::vector<TailItem>> items_;
};

}  // namespace runwarden::store
