#include "ingest/faults.h"

#include <utility>

#include "store/capacity.h"

namespace runwarden::ingest {
namespace {

constexpr int kAwayRetryS = 5;  // a store that fails over is back within seconds

}  // namespace

Error run_conflict(std::string_view run_id, model::RunSource stored) {
  const char* const why = stored == model::RunSource::otlp
                              ? " belongs to a run that came from OpenTelemetry; send more spans of that trace, or use a new runId"
                              : " is already stored with different content; send the changed run under a new runId";
  return {Code::conflict, "runId \"" + std::string(run_id) + "\"" + why, {}, {}};
}

Error idempotency_conflict() {
  return {Code::conflict, "this Idempotency-Key was used for a request with different content; use a new key for a new request", {}, {}};
}

Error no_room(std::string why) {
  return {Code::unavailable, std::move(why), {}, {}, store::kStoreFullRetryS};
}

Error store_away(const store::StoreAway& away) {
  return {Code::unavailable, away.client_text, away.what(), {}, kAwayRetryS};
}

IngestAnswer not_stored(store::WriteResult result) {
  using Outcome = store::WriteResult::Outcome;
  switch (result.outcome) {
    case Outcome::idempotency_conflict: return refused(idempotency_conflict());
    case Outcome::unavailable: return refused(no_room(std::move(result.detail)));
    case Outcome::away: return refused({Code::unavailable, std::move(result.detail), {}, {}, kAwayRetryS});
    case Outcome::denied: return refused(std::move(*result.refusal));
    case Outcome::in_doubt: {
      IngestAnswer none;
      none.kind = IngestAnswer::Kind::in_doubt;
      return none;
    }
    case Outcome::stored:
    case Outcome::replayed:
    case Outcome::run_conflict: break;
  }
  return refused(
      {Code::internal, "the request could not be processed; retry it, and contact the operator if the problem persists", {}, {}});
}

Error too_many_open_runs(std::uint64_t limit, int retry_after_s) {
  return {Code::unavailable,
          "buffer.max_open_runs (" + std::to_string(limit) +
              ") runs are open, those of all tenants together; retry later, or ask the operator to raise the limit",
          {},
          {},
          retry_after_s};
}

Error not_queued(const store::WriteQueue& queue) {
  if (std::string away = queue.refuses_for(); !away.empty()) return {Code::unavailable, std::move(away), {}, {}, kAwayRetryS};
  return {Code::unavailable, "the store's write queue is full; nothing was stored, retry in a moment", {}, {}};
}

Error no_room_for_reply(std::uint64_t bytes) {
  return {Code::unavailable,
          "responses waiting for their clients leave no room for this one of up to " + std::to_string(bytes) +
              " bytes (limits.max_reply_bytes): read the pending responses, then retry, or request less",
          {},
          {}};
}

}  // namespace runwarden::ingest
