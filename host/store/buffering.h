// How events change the run they belong to, and how a claim ends it: the rules that all engines share. Internal to store/. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/claim.h"
#include "store/record_codec.h"
#include "store/run_writes.h"
#include "store/write_result.h"

namespace runwarden::store {

// Sets `ending` and `cut` if this revision is complete: the client said so, or it has reached its limit of events or bytes.
void settle(Buffering& buffering);

// Whether the client has said that the run ends with the events it has.
bool has_ended(const StoredRun& stored);

Buffered how_it_stands(const model::RecordKey& place, const StoredRun& stored);

// The events of a request that are new to the run. The views live as long as the write and the halves.
struct NewEvents {
  std::vector<std::string> json;
  std::vector<const model::EventOutline*> outlines;
  std::vector<std::string_view> ids;  // half digests of the new ids, that of final_id() included
  bool final = false;                 // the run ends with this request
  std::uint64_t bytes = 0;
  std::uint64_t end_mark = 0;  // of the last event that ends the run
};

// Identifies `final` as an id does an event: that the run ends after the last event of the request. Empty if that event has no id. Seen
// before, it ends nothing: the run has ended there, and may have gone on since.
std::string final_id(const EventsWrite& write);

// The half digests of the events' ids, then, if the write is final, that of final_id(); empty strings for those without an id.
std::vector<std::string> halves_of(const EventsWrite& write, const std::function<std::string(const std::string& id)>& half_digest);

// `halves`: as halves_of() returns them. `stored`: the run as stored, or null if it is new. `is_seen`
// returns whether the stored run has an event with that half digest; it is not called for a new run.
NewEvents new_events(const EventsWrite& write, std::span<const std::string> halves, const StoredRun* stored,
                     const std::function<bool(std::string_view half)>& is_seen);

// An open run without events, for a write that begins it.
StoredRun begun_run(const EventsWrite& write);

// Turns a resolved run into its next revision, open and without new events.
void reopen_run(StoredRun& stored, std::int64_t received_ms);

// Counts the events of a write in an open run, and updates the run's outline, limits and end.
void add_to_run(StoredRun& stored, const EventsWrite& write, const NewEvents& fresh);

// Whether the claim still fits the run as stored.
bool covers(const Claim& claim, const StoredRun& stored);

// What is buffered beyond the end of a claim.
struct EventsBeyond {
  std::uint64_t bytes = 0;
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
};

// The next revision of a run that a claim has ended. It begins with the events that arrived after the claim.
StoredRun following_revision(const RunWrite& write, const StoredRun& open, const EventsBeyond& beyond);

}  // namespace runwarden::store
