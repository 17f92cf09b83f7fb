// Buffered events, and what was answered to an idempotency identity, as bytes and back. For the files of store/ only.
// Pure; any thread. Decoders throw BadValue.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/envelope.h"
#include "store/writes.h"

namespace runwarden::store {

// Events that came together, or all of a run's revision packed. The head tells how many, and when they came.
struct EventChunk {
  std::uint32_t count = 0;
  std::int64_t received_ms = 0;
  std::uint64_t bytes = 0;  // of the events' JSON
};

std::string encode_events(std::string_view key, std::int64_t received_ms, std::span<const std::string> events);
EventChunk decode_events_head(std::string_view key, std::string_view value);
std::vector<std::string> decode_events(std::string_view key, std::string_view value);

// What an idempotency identity was answered with: which record, not a copy of it; of events also how they left their run.
struct Answered {
  enum class Kind : std::uint8_t { run, events, change, policy, triage, review };
  Idempotency idempotency{};
  std::int64_t created_ms = 0;
  Kind kind = Kind::run;
  model::RecordKey record{};
  std::uint32_t revision = 1;  // of the run
  Buffered buffered{};         // kind events
};

std::string encode_answered(std::string_view key, const Answered& answered);
Answered decode_answered(std::string_view key, std::string_view value);

}  // namespace runwarden::store
