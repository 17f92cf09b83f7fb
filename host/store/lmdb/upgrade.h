// Brings a store of an older format to this one, step by step, in the transaction that opens it: a store is of one format or
// the other, however the process ends. For the files of store/ only; the thread of the transaction.
#pragma once

#include <cstdint>
#include <span>

#include "store/lmdb/env.h"
#include "store/lmdb/store.h"
#include "store/lmdb/tables.h"

namespace runwarden::store {

struct UpgradeStep {
  std::uint64_t from = 0;  // makes format from + 1 of it
  const char* does = "";
  void (*run)(WriteTxn& txn, const Tables& tables) = nullptr;
};

// Every step there is, oldest first.
std::span<const UpgradeStep> upgrade_steps();

// A new store is marked with the format; an older one is upgraded, or refused as asked for; a newer one is refused. The tables
// are open. Throws StoreError with the remedy.
void settle_format(LmdbEnv& env, const Tables& tables, LmdbSettings::IfOlder if_older);

// Refuses a newer format likewise, and changes nothing.
void refuse_newer_format(LmdbEnv& env, const Tables& tables);

// The counts of runs and failures, made anew from the records.
void count_anew(WriteTxn& txn, const Tables& tables);
// Has the groups of failures counted while the store is served.
void begin_group_build(WriteTxn& txn, const Tables& tables);

}  // namespace runwarden::store
