// Writes groups, dimensions, messages and the tail in the transaction of a batch. One thread at a time, the connection's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/postgres/batch_effects.h"
#include "store/postgres/connection.h"
#include "store/postgres/ledger_writer.h"
#include "store/retention.h"

namespace runwarden::store::postgres {

// Call it in the batch's open transaction, after its rows of runs and failures have been written and deleted. Takes locks in one order:
// groups by tenant and key, then tenants, then webhooks. Returns what to run afterwards, except the notes. Throws PgFault; StoreError if a
// group cannot be read.
[[nodiscard]] std::vector<Connection::Statement> write_effects(Connection& connection, const BatchEffects& effects,
                                                               const EffectRules& rules);

// Retention of histories and of webhooks' deliveries. Call them in an open transaction, after running what write_effects() returned for the
// deleted failures. Each deletes at most `most` rows and returns how many. Notes tenants whose answers change, and collects records that
// may have ledger entries.
struct ExpiryNotes {
  CommitNotes& notes;
  std::vector<ErasedRecord>& erased;
};
std::uint64_t expire_triage(Connection& connection, const Retention& retention, std::size_t most, const ExpiryNotes& notes);
std::uint64_t expire_deliveries(Connection& connection, const Retention& retention, std::size_t most);
// The statements that write the notes; with `trim`, they also delete the oldest notes beyond what is kept. Run them in the round trip of
// COMMIT, before `counter.note`: they take a lock that every other batch of these tenants waits for.
enum class Trim : std::uint8_t { no, yes };
[[nodiscard]] std::vector<Connection::Statement> log_statements(const CommitNotes& notes, std::int64_t now_ms, Trim trim = Trim::yes);

}  // namespace runwarden::store::postgres
