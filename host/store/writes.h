// What is given to a store to keep, and what it says to each. Values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "model/opinion.h"
#include "model/records.h"
#include "model/review.h"
#include "model/run_outline.h"

namespace runwarden::store {

// What an Idempotency-Key names: SHA-256 over tenant-independent parts (path, key, line number), and over the decoded bytes.
struct Idempotency {
  model::Digest identity{};
  model::Digest content{};
};

// The right to end an open run: it covers the first `upto` of its events. Good until it is used or released, or the run is claimed again
// after its lease.
struct Claim {
  model::TenantId tenant = 0;
  model::RecordKey run;
  std::string run_id;
  std::uint32_t revision = 1;
  std::uint32_t upto = 0;  // of all events so far, also those of former revisions
  model::RunSource source = model::RunSource::client;
  bool root_arrived = false;  // as of RunRecord
  std::uint64_t end_mark = 0;  // likewise
  model::Resolution resolution = model::Resolution::idle;
  std::int64_t first_ms = 0;  // receipt of this revision's first event
  std::uint64_t token = 0;    // which claim of the run it is; never that of another
};

// One run to keep with all that was found in it, unless its runId or its idempotency identity is there already.
// With a claim it ends that open run instead: run.key, run_id and revision are those of the claim, its buffer goes, and its
// failures take the place of the former revision's; events that came after the claim open the next revision.
struct RunWrite {
  model::TenantId tenant = 0;
  model::RunRecord run;
  std::vector<model::FailureRecord> failures;
  std::vector<model::Opinion> opinions = {};  // that a model is to be asked for
  std::optional<Idempotency> idempotency = {};
  std::optional<Claim> claim = {};
  std::optional<model::Digest> document_digest = {};  // SHA-256 of run.document, where it is known already
};

// Events of a run, to be buffered in the order of arrival. Opens the run if it is not there, and opens it again if it has
// been resolved and one of the events is new.
struct EventsWrite {
  struct Event {
    std::string id;    // empty: none; an id seen before in the run adds nothing
    std::string json;  // kept as it is
    // The id is of its content: seen before, it adds nothing to a run that has ended, but to one that goes on it may be said again.
    bool id_of_content = false;
    model::EventOutline outline = {};
    std::uint64_t end_mark = 0;  // of a run_finished: of its content without its id, as of RunRecord; 0: another event
  };

  model::TenantId tenant = 0;
  model::RecordKey key;  // of the run, if it is new; its time is that of receipt
  std::string run_id;
  model::RunSource source = model::RunSource::client;  // a run of another source is a run_conflict
  bool has_root = false;                               // otlp: one of the events is the trace's root
  std::vector<Event> events;
  bool final = false;                                 // the run ends with these
  std::uint32_t max_events = 10'000;                  // of a revision; what is beyond begins the next
  std::uint64_t max_bytes = std::uint64_t{64} << 20;  // likewise, for what is held in memory when it ends
  std::optional<Idempotency> idempotency;
};

// The spans of one request, an EventsWrite for each of its traces: all of them are stored, or none for want of room. A trace whose run is
// of another source is left out, and its part says so.
struct TracesWrite {
  model::TenantId tenant = 0;
  std::vector<EventsWrite> traces;
};

struct ChangeWrite {
  model::TenantId tenant = 0;
  model::ChangeRecord change;
  std::optional<Idempotency> idempotency;
};

// A policy revision; it is listed among the changes, too. The same policy and revision again is replayed if the content is equal.
struct PolicyWrite {
  model::TenantId tenant = 0;
  model::PolicyRecord policy;
  std::optional<Idempotency> idempotency;
};

// A run of the service's own, of a tenant that no key can have. It takes the place of the one before and stands apart: no list, count
// or retention knows of it.
struct CanaryWrite {
  model::RunRecord run;
};

// What somebody decided about a group of failures. The store fills in the entry's state.
struct TriageWrite {
  model::TenantId tenant = 0;
  model::ClusterKey cluster{};
  model::TriageEntry entry;
  std::optional<Idempotency> idempotency;
};

// What somebody said of one failure, or of one run: all of it is stored, or nothing.
struct ReviewWrite {
  model::TenantId tenant = 0;
  std::vector<model::Review> reviews;
  std::optional<Idempotency> idempotency;
};

// What became of a claimed question to a model: of an attempt that failed, or of an answer. Where the last review of the run says `clean`
// of that revision and detector, a confirmed candidate is kept as denied, without failure and reviews.
struct OpinionWrite {
  model::TenantId tenant = 0;
  model::Opinion opinion;  // with the token of its claim, as it is to be kept
  // Of a candidate that was confirmed: kept with its run from now on, as if the detector had found it. Its review has to be among these.
  std::optional<model::FailureRecord> failure;
  std::vector<model::Review> reviews;  // one about something that a review in force is there for already is left out
};

using Write = std::variant<RunWrite, EventsWrite, TracesWrite, ChangeWrite, PolicyWrite, CanaryWrite, TriageWrite, ReviewWrite, OpinionWrite>;

// Whose it is; 0, which no key has, for a canary.
model::TenantId tenant_of(const Write& write);

// How much a write holds in memory, about.
std::uint64_t bytes_of(const Write& write);

// How an events request left its run.
struct Buffered {
  model::RecordKey run;
  std::uint32_t revision = 1;
  std::uint32_t accepted = 0;             // of the request's events: those that were new
  bool reopened = false;                  // this request opened the run again
  bool unchanged = false;                 // it is resolved, and nothing new came
  model::OpenBuffer buffer;               // while it is open
  std::optional<model::Resolution> ends;  // the revision is complete: it is to be claimed and ended now
};

struct WriteResult {
  enum class Outcome : std::uint8_t {
    stored,
    replayed,              // the same was there: what was answered then is below
    run_conflict,          // the runId, or the policy's revision, is there with other content; `first` or `policy` says what
    idempotency_conflict,  // the Idempotency-Key is there with other content
    unavailable,           // no room: nothing of this write was stored; `detail` says why
    denied,                // its permit was withdrawn before the commit: nothing was stored; `refusal` says why
    away,                  // the store cannot be reached now: nothing of this write was stored; `detail` says why
    in_doubt,              // nobody can tell whether it was stored: who sent it must get no answer, so that it asks again
  };
  Outcome outcome = Outcome::stored;
  std::optional<model::RunRecord> first;
  std::string detail;
  std::optional<Buffered> buffered = std::nullopt;           // of an EventsWrite, stored or replayed
  std::vector<WriteResult> traces = {};                      // of a TracesWrite, stored: of each trace, in order
  std::optional<model::ChangeRecord> change = std::nullopt;  // of a ChangeWrite, replayed; of a PolicyWrite, its change
  std::optional<model::PolicyRecord> policy = std::nullopt;  // of a PolicyWrite, stored (with its revision), replayed or refused
  std::optional<Error> refusal = std::nullopt;               // denied
  std::optional<model::Cluster> cluster = std::nullopt;      // of a TriageWrite, as it is after it; stored without it: there is no such group
  bool not_there = false;  // of a ReviewWrite or OpinionWrite: what it is about has gone, or another has claimed it; nothing was stored
  bool overruled = false;  // of an OpinionWrite: a review was left out, for another in force or for want of what it is about
};

}  // namespace runwarden::store
