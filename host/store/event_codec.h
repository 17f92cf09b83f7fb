// Encodes and decodes buffered events, and the answers to idempotency identities. Internal to store/. Pure; any thread. Decoders throw
// BadValue.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/envelope.h"
#include "store/idempotency.h"
#include "store/write_result.h"

namespace runwarden::store {

// Events that arrived together, or the packed events of a run's previous revisions. The head holds how many, and when they arrived.
struct EventChunk {
  std::uint32_t count = 0;
  std::int64_t received_ms = 0;
  std::uint64_t bytes = 0;  // of the events' JSON
};

std::string encode_events(std::string_view key, std::int64_t received_ms, std::span<const std::string> events);
EventChunk decode_events_head(std::string_view key, std::string_view value);
std::vector<std::string> decode_events(std::string_view key, std::string_view value);

// The answer to an idempotency identity: a reference to the record, not a copy; for events, also how they left their run.
struct IdempotentAnswer {
  enum class Kind : std::uint8_t { run, events, change, policy, triage, review };
  Idempotency idempotency{};
  std::int64_t created_ms = 0;
  Kind kind = Kind::run;
  model::RecordKey record{};
  std::uint32_t revision = 1;  // of the run
  Buffered buffered{};         // kind events
};

std::string encode_answer(std::string_view key, const IdempotentAnswer& answer);
IdempotentAnswer decode_answer(std::string_view key, std::string_view value);

}  // namespace runwarden::store
