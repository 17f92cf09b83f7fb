#include "pipeline/faults.h"

#include <utility>

#include "store/store.h"

namespace runwarden::pipeline {

Error run_conflict(std::string_view run_id) {
  return {Code::conflict,
          "runId \"" + std::string(run_id) + "\" is stored already, with other content; send the change as a run with a new runId",
          {},
          {}};
}

Error idempotency_conflict() {
  return {Code::conflict, "this Idempotency-Key was used for a request with other content; use a new key for a new request", {}, {}};
}

Error no_room(std::string why) {
  return {Code::unavailable, std::move(why), {}, {}, store::kStoreFullRetryS};
}

Error queue_full() {
  return {Code::unavailable, "the queue to the store is full; nothing was stored, send it again in a moment", {}, {}};
}

Error no_room_for_reply(std::uint64_t bytes) {
  return {Code::unavailable,
          "answers that wait for their clients leave no room for this one of up to " + std::to_string(bytes) +
              " bytes (limits.max_reply_bytes): read the answers you asked for, then send this again, or ask for less",
          {},
          {}};
}

}  // namespace runwarden::pipeline
