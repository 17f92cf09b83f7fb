// Runs in the LMDB tables. Internal to store/; the transaction's thread.
#pragma once

#include <optional>
#include <string_view>

#include "store/idempotency.h"
#include "store/lmdb/write_batch.h"
#include "store/record_codec.h"
#include "store/run_writes.h"
#include "store/write_result.h"

namespace runwarden::store {

std::optional<model::RecordKey> find_run_place(const Txn& txn, const Tables& tables, model::TenantId tenant, std::string_view run_id);
std::optional<StoredRun> read_run(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& place);
// Without document and arrays.
std::optional<StoredRun> read_run_head(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& place,
                                       OutlineToo outline = OutlineToo::no);
// Without document and arrays, with outline and json_bytes. With a revision: that one, if another has followed it.
std::optional<model::RunRecord> read_sized_head(const Txn& txn, const Tables& tables, const RunKey& place,
                                                std::optional<std::uint32_t> revision);
// Fills in json_bytes of a head.
model::RunRecord sized_head(const Txn& txn, const Tables& tables, std::string_view key, std::string_view value, StoredRun head);
// A revision that another has followed.
std::optional<StoredRun> read_previous(const Txn& txn, const Tables& tables, const RunKey& place, std::uint32_t revision);
KeyBytes previous_key(const RunKey& place, std::uint32_t revision);

// Adds a new run to the index of runIds and to the count.
void enter_run(WriteBatch& batch, const RunKey& place, std::string_view run_id);
// Erases a run with its previous revisions, its events and its index entries; not its failures, which expire by their own time.
struct ErasedRun {
  bool was_there = false;
  std::uint64_t events = 0;
  std::vector<model::RecordKey> failures;  // that lists showed for the run
};
ErasedRun erase_run(WriteBatch& batch, const RunKey& place);

// The size of what is to be written of a run and its failures.
std::size_t bytes_to_write(const WriteBatch& batch);

// The stored answer to a request with that identity that wrote a run, or events of one.
std::optional<WriteResult> replay_run(WriteBatch& batch, model::TenantId tenant, const std::optional<Idempotency>& idempotency);
// What prevents the write, if anything: the same run, a different run with that id, or a stored answer.
std::optional<WriteResult> answered_before(WriteBatch& batch, const RunWrite& write);

// Throws NoRoom if the transaction is lost; a mere refusal is in the result.
WriteResult write_run(WriteBatch& batch, const RunWrite& write);

// Throws NoRoom likewise.
WriteResult write_answer(WriteBatch& batch, const AnswerWrite& write);

// The service's own run, apart from all others.
WriteResult write_canary(WriteBatch& batch, const CanaryWrite& write);
std::optional<model::RunRecord> read_canary(const Txn& txn, const Tables& tables);

}  // namespace runwarden::store
