#include "store/lmdb/last_use.h"

#include <algorithm>

#include "store/lmdb/keys.h"

namespace runwarden::store {
namespace {

// Looks at the last record of each tenant; records are in order of time.
void look_for_newest(const Txn& txn, const Table& table, std::optional<std::int64_t>& newest_ms) {
  Cursor cursor(txn, table.handle);
  for (bool more = cursor.last(); more; more = cursor.before(KeyBytes().u32(tenant_of(cursor.key())))) {
    const std::int64_t time_ms = record_key_of(cursor.key()).time_ms;
    newest_ms = std::max(newest_ms.value_or(time_ms), time_ms);
  }
}

}  // namespace

// Clients set the dates of changes and policies, so these say nothing about the time.
ClockGuard::LastUse read_last_use(const Txn& txn, const Tables& tables) {
  ClockGuard::LastUse last_use;
  const auto noted = static_cast<std::int64_t>(read_meta(txn, tables, meta::kClockNoted));
  if (noted != 0) last_use.noted_ms = noted;
  for (const Table* table : {&tables.runs, &tables.failures, &tables.shadow_failures}) look_for_newest(txn, *table, last_use.newest_ms);
  return last_use;
}

void write_clock_note(WriteTxn& txn, const Tables& tables, std::int64_t wall_ms) {
  write_meta(txn, tables, meta::kClockNoted, static_cast<std::uint64_t>(wall_ms));
}

}  // namespace runwarden::store
