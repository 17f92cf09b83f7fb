// The databases of the store, by name and handle, and the texts that name a place in them. For the files of store/ only.
#pragma once

#include <lmdb.h>

#include <string>
#include <string_view>
#include <utility>

#include "store/envelope.h"
#include "store/layout.h"
#include "store/lmdb_env.h"
#include "store/store.h"

namespace runwarden::store {

struct Table {
  const char* name = "";
  MDB_dbi handle = 0;
};

struct Tables {
  Table meta{"meta"};                // name -> number
  Table tenants{"tenants"};          // tenant's name -> its number
  Table keys{"keys"};                // key id -> KeyRecord
  Table key_uses{"key_uses"};        // key id -> when it was last used
  Table runs{"runs"};                // place -> run, its latest revision
  Table run_ids{"run_ids"};          // tenant, runId -> place; only where the runId does not spell it
  Table failures{"failures"};        // place -> failure
  Table idempotency{"idempotency"};  // day u32, tenant, first half of the identity -> Answered

  template <class Use>
  void each(Use use) {
    for (Table* table : {&meta, &tenants, &keys, &key_uses, &runs, &run_ids, &failures, &idempotency}) use(*table);
  }
};

constexpr unsigned kMostTables = 24;

// `runs` at 000000010000...: for a text that says which value is bad.
std::string place_text(const Table& table, std::string_view key);

// Runs a decoder; a bad value becomes a StoreError that says which one it is and what can be done.
template <class Decode>
auto decoded(const Table& table, std::string_view key, Decode decode) {
  try {
    return decode();
  } catch (const BadValue& bad) {
    throw StoreError("store: " + place_text(table, key) + ": " + bad.what() +
                     "; run `runwarden verify`, and restore this record from a backup or purge it");
  }
}

}  // namespace runwarden::store
