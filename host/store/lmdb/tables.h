// The databases of the store, by name and handle, and the texts that name a place in them. Internal to store/.
#pragma once

#include <lmdb.h>

#include <string>
#include <string_view>
#include <utility>

#include "store/envelope.h"
#include "store/errors.h"
#include "store/key_encoding.h"
#include "store/lmdb/env.h"

namespace runwarden::store {

struct Table {
  const char* name = "";
  MDB_dbi handle = 0;
};

struct Tables {
  Table meta{"meta"};                        // name -> number
  Table tenants{"tenants"};                  // tenant's name -> its number
  Table keys{"keys"};                        // key id -> KeyRecord
  Table key_uses{"key_uses"};                // key id -> when it was last used
  Table runs{"runs"};                        // place -> run, its latest revision
  Table previous{"former"};                  // place, revision u32 -> run, a revision that another has followed
  Table run_ids{"run_ids"};                  // tenant, runId -> place; only if the runId does not spell the place
  Table open_runs{"open_runs"};              // place -> when the revision began, and whether it is complete
  Table events{"events"};                    // place, EventPart u8, ... -> events of a run
  Table failures{"failures"};                // place -> failure
  Table shadow_failures{"shadow_failures"};  // place -> failure of a detector on trial
  Table fingerprints{"fingerprints"};        // tenant, half digest of the fingerprint, time, seq -> nothing; for a false alarm, a value
  Table tally{"tally"};                      // tenant, series, level u8, bucket -> count
  Table clusters{"clusters"};                // tenant, half digest of the fingerprint -> ClusterHead; tenant -> GroupTotals
  Table triage{"triage"};                    // tenant, half digest of the fingerprint, time, seq -> TriageEntry
  Table series{"series"};                    // tenant, series, level u8, bucket -> SeriesRow
  Table dimensions{"dimensions"};            // tenant, half digest of a dimension, stretch, value -> counts; see dimensions.h
  Table commits{"commits"};                  // tenant, number u64 -> TailItems; see commit_log.h
  Table changes{"changes"};                  // place -> change
  Table policies{"policies"};                // place -> policy revision
  Table policy_index{"policy_index"};        // tenant, PolicyPart u8, half digest of the policy's name, ... -> see policies.h
  Table idempotency{"idempotency"};          // day u32, tenant, first half of the identity -> IdempotentAnswer
  Table crash_marks{"crash_marks"};          // place -> CrashMark
  Table endpoints{"endpoints"};              // tenant, seq -> Endpoint
  Table outbox{"outbox"};                    // endpoint, due time, seq -> when the delivery was queued; see message_writer.h
  Table deliveries{"deliveries"};            // endpoint, time, seq -> Delivery
  Table reviews{"reviews"};                  // place -> Review
  Table review_index{"review_index"};        // tenant, ReviewPart u8, ... -> see reviews.h
  Table opinions{"opinions"};                // place -> Opinion
  Table opinion_runs{"opinion_runs"};        // place of the run, time, seq -> nothing
  Table opinion_queue{"opinion_queue"};      // OpinionQueuePart u8, due time, place -> nothing; see opinions.h
  Table ledgers{"ledgers"};                  // tenant -> LedgerHead; no tenant -> the signing key; see ledger_rows.h
  Table ledger_entries{"ledger_entries"};    // tenant, index u64 of the first -> entries and the names of their records
  Table ledger_subtrees{"ledger_subtrees"};  // tenant, height u8, number u64 -> root of a complete subtree
  Table ledger_records{"ledger_records"};    // tenant, kind u8, record -> salt and index of its entry
  Table ledger_bodies{"ledger_bodies"};      // tenant, index u64 -> salt and body of an entry without a record
  Table canary{"canary"};                    // tenant 0, time 0, seq 0 -> run; at most one

  template <class Use>
  void each(Use use) {
    for (Table* table :
         {&meta,          &tenants,      &keys,          &key_uses,        &runs,           &previous,        &run_ids,
          &open_runs,     &events,       &failures,      &shadow_failures, &fingerprints,   &tally,           &clusters,
          &triage,        &series,       &dimensions,    &commits,         &changes,        &policies,        &policy_index,
          &idempotency,   &crash_marks,  &endpoints,     &outbox,          &deliveries,     &reviews,         &review_index,
          &opinions,      &opinion_runs, &opinion_queue, &ledgers,         &ledger_entries, &ledger_subtrees, &ledger_records,
          &ledger_bodies, &canary}) {
      use(*table);
    }
  }
};

constexpr unsigned kMostTables = 48;

// Opens every table that exists; false: some are missing. Throws LmdbFault.
bool open_those_there_are(LmdbEnv& env, Tables& tables);
// Opens every table; makes the missing ones. Throws LmdbFault, NoRoom or StoreError.
void open_tables(LmdbEnv& env, Tables& tables);

// `runs` at 000000010000...: names a value in an error text.
std::string place_text(const Table& table, std::string_view key);

// Runs a decoder. A BadValue becomes a StoreError that says which value it is and what can be done.
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
