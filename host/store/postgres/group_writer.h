// Groups, dimensions, messages and the tail, in the transaction of a batch. One thread at a time, the connection's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/postgres/batch_effects.h"
#include "store/postgres/connection.h"
#include "store/postgres/ledger_writer.h"
#include "store/queries.h"

namespace runwarden::store::postgres {

// In the batch's open transaction, when its rows of runs and failures have been written and deleted. Locks are taken in one order: groups by tenant
// and key, then tenants, then webhooks. What is returned is to be run afterwards. The notes are not among it. Throws PgFault; StoreError where
// a group cannot be read.
[[nodiscard]] std::vector<Connection::Statement> write_effects(Connection& connection, const BatchEffects& effects, const EffectRules& rules);

// Retention of histories and of webhooks' deliveries, in an open transaction, when what write_effects() returned for the failures that go was run.
// At most that many rows; says how many. Tenants whose answers change are noted, and what may have entries in ledgers is told.
struct ExpiryNotes {
  CommitNotes& notes;
  std::vector<ErasedRecord>& erased;
};
std::uint64_t expire_triage(Connection& connection, const Retention& retention, std::size_t most, const ExpiryNotes& notes);
std::uint64_t expire_deliveries(Connection& connection, const Retention& retention, std::size_t most);
// The statements that write the notes, and with `trim` delete the oldest beyond what is kept. They belong into the round trip of COMMIT, before
// `counter.note`: they take a lock that every other batch of these tenants waits for.
enum class Trim : std::uint8_t { no, yes };
[[nodiscard]] std::vector<Connection::Statement> log_statements(const CommitNotes& notes, std::int64_t now_ms, Trim trim = Trim::yes);

}  // namespace runwarden::store::postgres
