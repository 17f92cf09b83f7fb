// Runs, their failures and the answers kept for idempotency, in the tables. For the files of store/ only; the transaction
// says which thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "store/record_codec.h"
#include "store/room.h"
#include "store/tables.h"

namespace runwarden::store {

// What holds while answers are kept.
struct IdempotencyTimes {
  std::int64_t now_ms = 0;
  std::int64_t keep_ms = 0;
};

std::optional<model::RecordKey> find_run_place(const Txn& txn, const Tables& tables, model::TenantId tenant, std::string_view run_id);
std::optional<StoredRun> read_run(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& place);

std::optional<Answered> find_answered(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::Digest& identity,
                                      const IdempotencyTimes& times);
void write_answered(WriteTxn& txn, const Tables& tables, model::TenantId tenant, const Answered& answered);

// Fills in write.prepared.
void prepare_run(RunWrite& write);
// Throws NoRoom when the transaction is lost; what is merely refused is in the result.
WriteResult write_run(WriteTxn& txn, const Tables& tables, Room& room, const RunWrite& write, const IdempotencyTimes& times);

}  // namespace runwarden::store
