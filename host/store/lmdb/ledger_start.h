// Turns a store's ledger on or off while the store opens, and ensures that no ledger name gets a second history. Internal to store/; the
// thread that opens the store.
#pragma once

#include <cstdint>
#include <filesystem>

#include "store/ledger_codec.h"
#include "store/lmdb/env.h"
#include "store/lmdb/store.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"

namespace runwarden::store {

LedgerState ledger_state(const Txn& txn, const Tables& tables);

struct LedgerStart {
  std::filesystem::path folder;
  StoreSettings::Ledger wanted = StoreSettings::Ledger::as_it_is;
  std::uint64_t start = 0;  // number of the start that is in progress
  std::int64_t now_ms = 0;
};
// Records from before the ledger was on are counted in an entry `start`. A ledger that does not continue the one last published, as in a
// restored backup, goes on under another origin. Throws StoreError, LmdbFault or NoRoom.
LedgerState start_ledgers(LmdbEnv& env, const Tables& tables, const LedgerStart& start);

}  // namespace runwarden::store
