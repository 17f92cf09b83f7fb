// A row of the answers kept for idempotency. Internal to this folder. Pure; any thread.
#pragma once

#include <string>

#include "store/event_codec.h"
#include "store/key_encoding.h"
#include "store/postgres/row.h"
#include "store/postgres/rows.h"

namespace runwarden::store::postgres {

// The key that seals `answer`, which exists if events were answered, and says how they left their run.
inline KeyBytes answer_key(model::TenantId tenant, const IdempotentAnswer& answer) {
  return place_key(tenant, answer.record);
}

// Reads the columns identity, content, created_ms, kind, time_ms, seq, revision and answer, from `column` on. Throws BadValue.
inline IdempotentAnswer answer_in(model::TenantId tenant, const Rows& rows, std::size_t row, int column) {
  IdempotentAnswer answer;
  answer.record = record_key(rows, row, column + 4);
  const std::int64_t kind = rows.number(row, column + 3);
  if (kind < 0 || kind > static_cast<std::int64_t>(IdempotentAnswer::Kind::review))
    throw BadValue("it has the unknown kind " + std::to_string(kind));
  answer.kind = static_cast<IdempotentAnswer::Kind>(kind);
  if (answer.kind == IdempotentAnswer::Kind::events) {
    if (rows.is_null(row, column + 7)) throw BadValue("the state in which the events left their run is missing");
    answer = decode_answer(answer_key(tenant, answer), rows.bytes(row, column + 7));
  }
  answer.idempotency = {digest_in(rows.bytes(row, column), "identity"), digest_in(rows.bytes(row, column + 1), "content")};
  answer.created_ms = rows.number(row, column + 2);
  answer.revision = static_cast<std::uint32_t>(rows.number(row, column + 6));
  return answer;
}

}  // namespace runwarden::store::postgres
