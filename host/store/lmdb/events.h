// Buffered events and the runs they form, in the LMDB tables. Internal to store/; the transaction's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "store/lmdb/runs.h"
#include "store/queries.h"
#include "store/lmdb/write_batch.h"

namespace runwarden::store {

// What an open run waits for before it is due.
OpenRunIndex::Awaits awaited_by(const model::RunRecord& run);

// Adds a run to the table of open runs.
void enter_open_run(WriteBatch& batch, const RunKey& place, const StoredRun& stored);

// The half digests of the ids (halves_of() of store/buffering.h).
std::vector<std::string> seal_events(const EventsWrite& write);
WriteResult write_events(WriteBatch& batch, const EventsWrite& write);

// The events of one run, and the callback for those that cannot be read.
struct RunEvents {
  const Txn& txn;
  const Tables& tables;
  RunKey place;
  std::uint32_t total = 0;  // events that the run says it has
  const std::function<void(const std::string& text)>& on_unreadable;
};

// Events stored under one key.
struct EventRow {
  std::string_view key;
  std::string_view value;
  bool packed = false;
  std::uint32_t first = 0;  // index of the first
  std::uint32_t count = 0;
  std::int64_t received_ms = 0;
  std::uint64_t bytes = 0;
  bool readable = true;  // the fields above were read, not guessed
};

// Passes each row of a run's events to `visit`, oldest first, until it returns false. A row that cannot be read is reported, and counts for
// as many events as the rows around it leave room for.
void walk_event_rows(const RunEvents& of, const std::function<bool(EventRow& row)>& visit);

// The events of a row; nothing: they cannot be read, which is reported.
std::optional<std::vector<std::string>> events_in(const RunEvents& of, EventRow& row);

// Packs the events of the claim, as of its time, into one value. An event lost to damage becomes an empty text, so that later events keep
// their index.
std::string seal_claimed_events(const Txn& txn, const Tables& tables, const RunWrite& write);
// Ends the claimed run. batch.sealed holds the run, its failures and the events of the claim.
WriteResult write_claimed(WriteBatch& batch, const RunWrite& write);

// The first of.total events of a run, without the first `from` and without those lost to damage.
std::vector<std::string> read_events(const RunEvents& of, std::uint32_t from);

// The time of loading, and the callback for entries that cannot be read.
struct LoadedAt {
  std::int64_t wall_ms = 0;
  std::int64_t monotonic_ms = 0;
  const std::function<void(const std::string& text)>& on_unreadable;
};
// Loads all open runs into the index.
void load_open_runs(const Txn& txn, const Tables& tables, OpenRunIndex& index, const LoadedAt& at);

}  // namespace runwarden::store
