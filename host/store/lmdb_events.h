// Buffered events and the runs they make, in the tables. For the files of store/ only; the transaction says which thread.
#pragma once

#include <string>
#include <vector>

#include "store/lmdb_runs.h"
#include "store/queries.h"
#include "store/write_batch.h"

namespace runwarden::store {

// What follows a run's place in the keys of its events.
enum class EventPart : std::uint8_t {
  packed = 0,  // the events of former revisions, one value
  chunk = 1,   // index of its first event u32: events that came together
  id = 2,      // half digest of an eventId: seen in this run; no value
};

KeyBytes events_key(const RunPlace& place, bool packed, std::uint32_t first);
KeyBytes event_id_key(const RunPlace& place, std::string_view half);

// An open run's entry among the open ones.
void enter_open_run(WriteBatch& batch, const RunPlace& place, const StoredRun& stored);

void prepare_events(EventsWrite& write);
WriteResult write_events(WriteBatch& batch, const EventsWrite& write);

// Adds the packed events to write.prepared; the claim's events are as they were when it was taken.
void prepare_claimed(const Txn& txn, const Tables& tables, RunWrite& write);
// Ends the claimed run; `write` is prepared.
WriteResult write_claimed(WriteBatch& batch, const RunWrite& write);

// The first `upto` events of a run.
std::vector<std::string> read_events(const Txn& txn, const Tables& tables, const RunPlace& place, std::uint32_t upto);

// Tells the index of all runs that are open.
void load_open_runs(const Txn& txn, const Tables& tables, OpenRunIndex& index, std::int64_t wall_ms, std::int64_t monotonic_ms);

}  // namespace runwarden::store
