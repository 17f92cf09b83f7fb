// What each transaction committed, by tenant. The tail reads it, and its last number shows whether a tenant's answers are unchanged.
// Internal to store/.
//
// Items are numbered from 1. A row holds the items of one transaction; its key is tenant u32 and the number of its first item u64. At most
// kKeptItems of a tenant are kept, and always the last row.
#pragma once

#include <cstdint>

#include "store/commit_notes.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"

namespace runwarden::store {

constexpr std::uint64_t kKeptItems = 65'536;

// Writes what was noted, a row for each tenant.
void write_notes(WriteTxn& txn, const Tables& tables, CommitNotes& notes, std::int64_t now_ms);

// The number of the tenant's last item; 0: none yet.
std::uint64_t last_item(const Txn& txn, const Tables& tables, model::TenantId tenant);
// At most that many items after the one with that number.
TailPage items_after(const Txn& txn, const Tables& tables, model::TenantId tenant, std::uint64_t after, std::size_t most);

}  // namespace runwarden::store
