// Upgrades a store of an older format step by step, in the transaction that opens it. However the process ends, the store has one format or
// the other. Internal to store/; the transaction's thread.
#pragma once

#include <cstdint>
#include <span>

#include "store/lmdb/env.h"
#include "store/lmdb/store.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"

namespace runwarden::store {

struct UpgradeStep {
  std::uint64_t from = 0;  // leads to format from + 1
  const char* does = "";
  void (*run)(WriteTxn& txn, const Tables& tables) = nullptr;
};

// All steps, oldest first.
std::span<const UpgradeStep> upgrade_steps();

// Marks a new store with the format, upgrades or refuses an older one as `if_older` says, and refuses a newer one. The tables are open.
// Throws StoreError with the remedy.
void settle_format(LmdbEnv& env, const Tables& tables, LmdbSettings::IfOlder if_older);

// Also refuses a newer format, but changes nothing.
void refuse_newer_format(LmdbEnv& env, const Tables& tables);

// Recounts runs and failures from the records.
void recount(WriteTxn& txn, const Tables& tables);
// Makes the service count the groups of failures while it serves the store.
void begin_group_build(WriteTxn& txn, const Tables& tables);

}  // namespace runwarden::store
