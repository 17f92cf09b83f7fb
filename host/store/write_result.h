// What became of a write. A value; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/change_record.h"
#include "model/cluster.h"
#include "model/record_key.h"
#include "model/run_record.h"

namespace runwarden::store {

// How an events request left its run.
struct Buffered {
  model::RecordKey run;
  std::uint32_t revision = 1;
  std::uint32_t accepted = 0;             // how many of the request's events were new
  bool reopened = false;                  // this request opened the run again
  bool unchanged = false;                 // it is resolved, and nothing new arrived
  model::OpenBuffer buffer;               // while it is open
  std::optional<model::Resolution> ends;  // the revision is complete: claim it and end it now
};

struct WriteResult {
  enum class Outcome : std::uint8_t {
    stored,
    replayed,              // it was there already: the answer given then is below
    run_conflict,          // the runId, or the policy's revision, exists with other content; `first` or `policy` has it
    idempotency_conflict,  // the Idempotency-Key exists with other content
    unavailable,           // no room: nothing of this write was stored; `detail` says why
    denied,                // its permit was withdrawn before the commit: nothing was stored; `refusal` says why
    away,                  // the store cannot be reached: nothing of this write was stored; `detail` says why
    in_doubt,              // it is not known whether it was stored: the client must get no answer, so that it asks again
  };
  Outcome outcome = Outcome::stored;
  std::optional<model::RunRecord> first;
  std::string detail;
  std::optional<Buffered> buffered = std::nullopt;           // of an EventsWrite, stored or replayed
  std::vector<WriteResult> traces = {};                      // of a TracesWrite, stored: for each trace, in order
  std::optional<model::ChangeRecord> change = std::nullopt;  // of a ChangeWrite, replayed or renumbered; of a PolicyWrite, its change
  std::optional<model::PolicyRecord> policy = std::nullopt;  // of a PolicyWrite, stored (with its revision), replayed or refused
  std::optional<Error> refusal = std::nullopt;               // denied
  std::optional<model::Cluster> cluster = std::nullopt;      // of a TriageWrite, after it; stored without it: there is no such group
  std::optional<model::RecordKey> decided = std::nullopt;    // of a TriageWrite or ReviewWrite, replayed: its entry or first review
  bool not_there = false;  // of a ReviewWrite or OpinionWrite: its subject is gone, or another has claimed it; nothing was stored
  bool overruled = false;  // of an OpinionWrite: a review was left out, because another is in force or its subject is gone
};

}  // namespace runwarden::store
