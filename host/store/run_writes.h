// Writes of runs: whole, or event by event. Values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/failure_record.h"
#include "model/opinion.h"
#include "model/record_key.h"
#include "model/run_outline.h"
#include "model/run_record.h"
#include "store/claim.h"
#include "store/idempotency.h"

namespace runwarden::store {

// A run to store with all that was found in it, unless its runId or its idempotency identity exists already. With a claim, it ends that
// open run instead: run.key, run_id and revision are those of the claim, its buffer is deleted, and its failures replace those of the
// previous revision. Events that came after the claim open the next revision.
struct RunWrite {
  model::TenantId tenant = 0;
  model::RunRecord run;
  std::vector<model::FailureRecord> failures;
  std::vector<model::Opinion> opinions = {};  // questions for a model about the run
  std::optional<Idempotency> idempotency = {};
  std::optional<Claim> claim = {};
  std::optional<model::Digest> document_digest = {};  // SHA-256 of run.document, if it is already known
};

// Events of a run, to be buffered in order of arrival. Opens the run if it does not exist, and opens it again if it is resolved and one of
// the events is new.
struct EventsWrite {
  struct Event {
    std::string id;    // empty: none; an id seen before in the run adds nothing
    std::string json;  // kept verbatim
    // The id was made from the content. If it was seen before, the event adds nothing to a run that has ended, but may repeat in a run that
    // goes on.
    bool id_of_content = false;
    model::EventOutline outline = {};
    // Of a run_finished, which ends the run unless nothing of the write is new: of its content without its id, as in RunRecord. 0: another
    // event.
    std::uint64_t end_mark = 0;
  };

  model::TenantId tenant = 0;
  model::RecordKey key;  // of the run, if it is new; its time is that of receipt
  std::string run_id;
  model::RunSource source = model::RunSource::client;  // a run of another source is a run_conflict
  bool has_root = false;                               // otlp: one of the events is the trace's root
  std::vector<Event> events;
  bool final = false;  // the run ends, even if none of these is new; not if it was said before, after the same last event
  std::uint32_t max_events = 10'000;                  // per revision; events beyond begin the next one
  std::uint64_t max_bytes = std::uint64_t{64} << 20;  // likewise, for what is held in memory when it ends
  std::optional<Idempotency> idempotency;
};

// The spans of one request, an EventsWrite for each of its traces. All of them are stored, or none if there is no room. A trace whose run
// has another source is left out, and its part of the result says so.
struct TracesWrite {
  model::TenantId tenant = 0;
  std::vector<EventsWrite> traces;
};

// Binds an idempotency identity to a revision that is stored already, as the answer to it. Replayed if the identity was bound before.
struct AnswerWrite {
  model::TenantId tenant = 0;
  Idempotency idempotency;
  model::RecordKey run;
  std::uint32_t revision = 1;
};

// The service's own run, of a tenant that no key can have. It replaces the one before, and no list, count or retention includes it.
struct CanaryWrite {
  model::RunRecord run;
};

}  // namespace runwarden::store
