// Second opinions in the LMDB tables. Internal to store/; the transaction's thread.
//
// `opinions` holds each of them at its place. `opinion_runs` finds them by run, and `opinion_queue` finds those that wait by due time:
//   tenant u32, run (time, seq), time, seq                      -> nothing
//   OpinionQueuePart, due time (dead: 0), tenant, time, seq      -> nothing
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/opinion.h"
#include "store/lmdb/write_batch.h"
#include "store/review_writes.h"
#include "store/write_result.h"

namespace runwarden::store {

enum class OpinionQueuePart : std::uint8_t { waiting = 1, dead = 2 };
constexpr std::size_t kOpinionRunKeyBytes = kPlaceBytes + 16;
constexpr std::size_t kOpinionQueueKeyBytes = 1 + 8 + kPlaceBytes;

KeyBytes opinion_run_key(model::TenantId tenant, const model::Opinion& opinion);
// The opinion's key in the queue; nothing: it has been answered.
std::optional<KeyBytes> opinion_queue_key(model::TenantId tenant, const model::Opinion& opinion);

std::optional<model::Opinion> read_opinion(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& at);
// Of every revision of the run, oldest first.
std::vector<model::RecordKey> opinions_of_run(const Txn& txn, const Tables& tables, const RunKey& run);

// Stores a new opinion, or replaces its previous state.
void put_opinion(WriteTxn& txn, const Tables& tables, model::TenantId tenant, const model::Opinion& opinion);
// Called when the run is deleted, or when another revision of it begins.
void erase_opinions(WriteBatch& batch, const RunKey& run);
// The size of the opinions that a run brings along.
std::size_t bytes_to_write(const std::vector<model::Opinion>& opinions);

WriteResult write_opinion(WriteBatch& batch, const OpinionWrite& write);

}  // namespace runwarden::store
