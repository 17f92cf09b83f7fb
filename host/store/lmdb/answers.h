// Answers kept for idempotency, in the LMDB tables. Internal to store/; the transaction's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "store/event_codec.h"
#include "store/lmdb/write_batch.h"

namespace runwarden::store {

std::optional<IdempotentAnswer> find_answer(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::Digest& identity,
                                            const IdempotencyTimes& times);

// Does nothing without an idempotency identity.
void remember_answer(WriteBatch& batch, model::TenantId tenant, const std::optional<Idempotency>& idempotency, IdempotentAnswer answer);

// The key of a stored answer.
KeyBytes answer_key(const IdempotentAnswer& answer, model::TenantId tenant);

// Moves `day` to the first day, from `day` on, that has answers of the tenant. False: there is none.
bool next_day_with_answers(const Txn& txn, const Tables& tables, model::TenantId tenant, std::uint32_t& day);

// Whether an answer was given before that time. True for one that cannot be read.
bool is_answer_before(std::string_view key, std::string_view value, std::int64_t before_ms);

// The first day that is kept: all answers of earlier days are too old.
std::uint32_t answers_kept_from_day(const IdempotencyTimes& times);

}  // namespace runwarden::store
