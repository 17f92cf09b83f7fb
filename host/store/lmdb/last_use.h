// When a store was last in use, by its records and its own note of the time. Internal to store/.
#pragma once

#include <cstdint>

#include "base/clock_guard.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"

namespace runwarden::store {

// Cheap: one look-up per tenant and kind of record.
ClockGuard::LastUse read_last_use(const Txn& txn, const Tables& tables);

void write_clock_note(WriteTxn& txn, const Tables& tables, std::int64_t wall_ms);

}  // namespace runwarden::store
