// Second opinions in the tables. For the files of store/ only; the transaction says which thread.
//
// `opinions` has each of them at its place, `opinion_runs` leads to them by their run, and `opinion_queue` by when those that wait are due:
//   tenant u32, run (time, seq), time, seq                      -> nothing
//   OpinionQueuePart, due time (0 of the dead), tenant, time, seq -> nothing
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/opinion.h"
#include "store/lmdb/write_batch.h"
#include "store/writes.h"

namespace runwarden::store {

enum class OpinionQueuePart : std::uint8_t { waiting = 1, dead = 2 };
constexpr std::size_t kOpinionRunKeyBytes = kPlaceBytes + 16;
constexpr std::size_t kOpinionQueueKeyBytes = 1 + 8 + kPlaceBytes;

KeyBytes opinion_run_key(model::TenantId tenant, const model::Opinion& opinion);
// Where the opinion stands in the queue; nothing: it has been answered.
std::optional<KeyBytes> opinion_queue_key(model::TenantId tenant, const model::Opinion& opinion);

std::optional<model::Opinion> read_opinion(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& at);
// Of every revision of the run, oldest first.
std::vector<model::RecordKey> opinions_of_run(const Txn& txn, const Tables& tables, const RunPlace& run);

// One that is new, or in place of what it was before.
void put_opinion(WriteTxn& txn, const Tables& tables, model::TenantId tenant, const model::Opinion& opinion);
// The run goes, or another revision of it begins.
void erase_opinions(WriteBatch& batch, const RunPlace& run);
// Of what a run brings along.
std::size_t bytes_to_write(const std::vector<model::Opinion>& opinions);

WriteResult write_opinion(WriteBatch& batch, const OpinionWrite& write);

}  // namespace runwarden::store
