// What a transaction tells the tail of. For the files of store/ only. Pure; any thread.
#pragma once

#include <map>
#include <vector>

#include "store/group_store.h"
#include "store/writes.h"

namespace runwarden::store {

class CommitNotes {
 public:
  void note(model::TenantId tenant, TailItem::Kind kind, const model::RecordKey& record);
  void note(model::TenantId tenant) { note(tenant, TailItem::Kind::other, {}); }
  // A write and what became of it. Only one that was stored is noted.
  void note(const Write& write, const WriteResult& result);

  // By tenant; none of them is empty.
  const std::map<model::TenantId, std::vector<TailItem>>& items() const { return items_; }
  void clear() { items_.clear(); }

 private:
  void note_events(model::TenantId tenant, const WriteResult& result);

  std::map<model::TenantId, std::vector<TailItem>> items_;
};

}  // namespace runwarden::store
