// The refusals that several kinds of ingest word alike. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ingest/ingest_answer.h"
#include "store/writes.h"

namespace runwarden::ingest {

// The answer to a write that was not stored, or is in doubt; except for what is in a run's way, which the caller words.
IngestAnswer not_stored(store::WriteResult result);
Error run_conflict(std::string_view run_id);
Error idempotency_conflict();
// The store cannot take it now: something has to be freed or deleted first.
Error no_room(std::string why);
// The store cannot be reached now.
Error store_away(std::string why);
// For a moment.
Error queue_full();
// To a request whose answer has no room in its share of limits.max_reply_bytes.
Error no_room_for_reply(std::uint64_t bytes);

}  // namespace runwarden::ingest
