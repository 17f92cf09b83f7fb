// Turns a store's ledger on or off while the store opens, and ensures that no ledger name gets a second history. Internal to store/; one
// thread at a time, alongside other processes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

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
// Records from before the ledger was on are counted in an entry `start`. If it is on, ensures that it may be signed. Throws StoreError,
// LmdbFault or NoRoom.
LedgerState start_ledgers(LmdbEnv& env, const Tables& tables, const LedgerStart& start);

struct LedgerPlace {
  LmdbEnv& env;
  const Tables& tables;
  std::filesystem::path folder;
  std::int64_t now_ms = 0;
  // Runs a write in a transaction, and commits it.
  std::function<void(const std::function<void(WriteTxn& txn)>& work)> writing;
};
// A ledger that does not continue the one last published, as in a restored backup, goes on under another origin. Every process calls it
// before it signs, because the first note of a checkpoint makes a restored store look like one that was published from. Throws as
// start_ledgers(), and what `writing` throws.
void ensure_may_sign(const LedgerPlace& place);

}  // namespace runwarden::store
