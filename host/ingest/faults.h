// Errors that several kinds of ingest share. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ingest/ingest_answer.h"
#include "model/run_record.h"
#include "store/errors.h"
#include "store/write_queue.h"
#include "store/write_result.h"

namespace runwarden::ingest {

// The answer to a write that failed or is in doubt. The caller words conflicts with a stored run.
IngestAnswer not_stored(store::WriteResult result);
// `stored` is the source of the run that has the runId.
Error run_conflict(std::string_view run_id, model::RunSource stored);
Error idempotency_conflict();
// The store is full: something must be freed or deleted first.
Error no_room(std::string why);
// The store cannot be reached right now.
Error store_away(const store::StoreAway& away);
// The sender's own runs may be none of those that are open.
Error too_many_open_runs(std::uint64_t limit, int retry_after_s);
// The queue did not take a write: the store cannot be reached, or the queue is full for the moment.
Error not_queued(const store::WriteQueue& queue);
// The answer does not fit into its share of limits.max_reply_bytes.
Error no_room_for_reply(std::uint64_t bytes);

}  // namespace runwarden::ingest
