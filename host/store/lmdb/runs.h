// Runs in the tables. For the files of store/ only; the transaction says which thread.
#pragma once

#include <optional>
#include <string_view>

#include "store/record_codec.h"
#include "store/lmdb/write_batch.h"
#include "store/writes.h"

namespace runwarden::store {

std::optional<model::RecordKey> find_run_place(const Txn& txn, const Tables& tables, model::TenantId tenant, std::string_view run_id);
std::optional<StoredRun> read_run(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& place);
// Without document and arrays.
std::optional<StoredRun> read_run_head(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& place,
                                       OutlineToo outline = OutlineToo::no);
// Without document and arrays, with outline and json_bytes. With a revision: one that another has followed.
std::optional<model::RunRecord> read_sized_head(const Txn& txn, const Tables& tables, const RunPlace& place,
                                                std::optional<std::uint32_t> revision);
// Fills in json_bytes of a head.
model::RunRecord sized_head(const Txn& txn, const Tables& tables, std::string_view key, std::string_view value, StoredRun head);
// One that another revision has followed.
std::optional<StoredRun> read_former(const Txn& txn, const Tables& tables, const RunPlace& place, std::uint32_t revision);
KeyBytes former_key(const RunPlace& place, std::uint32_t revision);

// A new run's place in the index of runIds and in the count.
void enter_run(WriteBatch& batch, const RunPlace& place, std::string_view run_id);
// With its former revisions, its events and its index entries; not its failures, which go by their own time.
struct ErasedRun {
  bool was_there = false;
  std::uint64_t events = 0;
  std::vector<model::RecordKey> failures;  // that lists showed for it
};
ErasedRun erase_run(WriteBatch& batch, const RunPlace& place);

// Of what is to be written of a run and its failures.
std::size_t bytes_to_write(const WriteBatch& batch);

// The kept answer to a request of that identity that wrote a run or events of one.
std::optional<WriteResult> replay_run(WriteBatch& batch, model::TenantId tenant, const std::optional<Idempotency>& idempotency);
// What stands in the way of the write, if something does: the same run, another one of that id, or a kept answer.
std::optional<WriteResult> answered_before(WriteBatch& batch, const RunWrite& write);

// Throws NoRoom when the transaction is lost; what is merely refused is in the result.
WriteResult write_run(WriteBatch& batch, const RunWrite& write);

// The service's own run, beside all others.
WriteResult write_canary(WriteBatch& batch, const CanaryWrite& write);
std::optional<model::RunRecord> read_canary(const Txn& txn, const Tables& tables);

}  // namespace runwarden::store
