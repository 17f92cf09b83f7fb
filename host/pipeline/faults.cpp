#include "pipeline/faults.h"

#include <utility>

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
  return {Code::unavailable, std::move(why), {}, {}};
}

Error queue_full() {
  return no_room("the queue to the store is full; nothing was stored, send it again in a moment");
}

}  // namespace runwarden::pipeline
