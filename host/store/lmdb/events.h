// Buffered events and the runs they make, in the tables. For the files of store/ only; the transaction says which thread.
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

// An open run's entry among the open ones.
void enter_open_run(WriteBatch& batch, const RunPlace& place, const StoredRun& stored);

// Of each event the half digest of its id; empty: it has none.
std::vector<std::string> seal_events(const EventsWrite& write);
WriteResult write_events(WriteBatch& batch, const EventsWrite& write);

// The events of one run, and who is told of those that cannot be read.
struct RunEvents {
  const Txn& txn;
  const Tables& tables;
  RunPlace place;
  std::uint32_t total = 0;  // events that the run says it has
  const std::function<void(const std::string& text)>& on_unreadable;
};

// Events as they stand under one key.
struct EventRow {
  std::string_view key;
  std::string_view value;
  bool packed = false;
  std::uint32_t first = 0;  // index of the first
  std::uint32_t count = 0;
  std::int64_t received_ms = 0;
  std::uint64_t bytes = 0;
  bool readable = true;  // what stands above was read, not guessed
};

// Gives each row of a run's events to `visit`, oldest first, until it returns false. A row that cannot be read is reported, and
// counts as many events as the rows around it leave room for.
void walk_event_rows(const RunEvents& of, const std::function<bool(EventRow& row)>& visit);

// The events of a row; nothing if they cannot be read, which is reported.
std::optional<std::vector<std::string>> events_in(const RunEvents& of, EventRow& row);

// The events of the claim in one value, as they were when it was taken. An event that was lost to damage leaves an empty text, so that the
// events behind it keep their index.
std::string seal_claimed_events(const Txn& txn, const Tables& tables, const RunWrite& write);
// Ends the claimed run. batch.sealed: the run, its failures, the events of the claim.
WriteResult write_claimed(WriteBatch& batch, const RunWrite& write);

// The first of.total events of a run, without so many first ones and without those that were lost to damage.
std::vector<std::string> read_events(const RunEvents& of, std::uint32_t from);

// When it is, and who is told of entries that cannot be read.
struct LoadedAt {
  std::int64_t wall_ms = 0;
  std::int64_t monotonic_ms = 0;
  const std::function<void(const std::string& text)>& on_unreadable;
};
// Tells the index of all runs that are open.
void load_open_runs(const Txn& txn, const Tables& tables, OpenRunIndex& index, const LoadedAt& at);

}  // namespace runwarden::store
