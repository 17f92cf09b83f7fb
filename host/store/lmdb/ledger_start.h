// Turns the ledger of a store on and off while it is opened, and sees to it that no name gets a second history. For the files of store/
// only; the thread that opens the store.
#pragma once

#include <cstdint>
#include <filesystem>

#include "store/ledger_codec.h"
#include "store/lmdb/env.h"
#include "store/lmdb/store.h"
#include "store/lmdb/tables.h"

namespace runwarden::store {

LedgerState ledger_state(const Txn& txn, const Tables& tables);

struct LedgerStart {
  std::filesystem::path folder;
  StoreSettings::Ledger wanted = StoreSettings::Ledger::as_it_is;
  std::uint64_t start = 0;  // of the store, that is being made
  std::int64_t now_ms = 0;
};
// What stood there before records made entries is counted in an entry `start`. A ledger that is not the one that was told of last, as of a
// backup that was restored, goes on under another origin. Throws StoreError, LmdbFault or NoRoom.
LedgerState start_ledgers(LmdbEnv& env, const Tables& tables, const LedgerStart& start);

}  // namespace runwarden::store
