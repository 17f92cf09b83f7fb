// How events change the run that they belong to, and how a claim ends it: what every engine decides in the same way. For the files of
// store/ only. Pure; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/record_codec.h"
#include "store/writes.h"

namespace runwarden::store {

// Sets `ending` and `cut` where this revision is complete: by the client's word, or because it has as many events as it may.
void settle(Buffering& buffering);

// Whether the client has said that the run ends with the events it has.
bool has_ended(const StoredRun& stored);

Buffered how_it_stands(const model::RecordKey& place, const StoredRun& stored);

// The events of a request that the run has not seen. Views live as long as the write and the halves.
struct NewEvents {
  std::vector<std::string> json;
  std::vector<const model::EventOutline*> outlines;
  std::vector<std::string_view> ids;  // half digests
  std::uint64_t bytes = 0;
  std::uint64_t end_mark = 0;  // of the last one that ends the run
};

// `halves`: of each event the half digest of its id, or nothing. `stored`: the run as it stands, null if it is new; only then `is_seen` is
// not asked whether the run has an event of that half digest.
NewEvents new_events(const EventsWrite& write, std::span<const std::string> halves, const StoredRun* stored,
                     const std::function<bool(std::string_view half)>& is_seen);

// An open run without events, for a write that begins it.
StoredRun begun_run(const EventsWrite& write);

// Makes a resolved run the next revision, open and without new events.
void reopen_run(StoredRun& stored, std::int64_t received_ms);

// Counts the events of a write to an open run, and what else it says of it.
void add_to_run(StoredRun& stored, const EventsWrite& write, const NewEvents& fresh);

// Whether a claim speaks of the run as it stands.
bool covers(const Claim& claim, const StoredRun& stored);

// What is buffered beyond the end of a claim.
struct EventsBeyond {
  std::uint64_t bytes = 0;
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
};

// The revision that begins behind one that a claim has ended while more events had come.
StoredRun following_revision(const RunWrite& write, const StoredRun& open, const EventsBeyond& beyond);

}  // namespace runwarden::store
