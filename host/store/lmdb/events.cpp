#include "store/lmdb/events.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "store/buffering.h"
#include "store/lmdb/answers.h"
#include "store/lmdb/failures.h"
#include "store/lmdb/opinions.h"
#include "store/lmdb/runs.h"

namespace runwarden::store {
namespace {

using Outcome = WriteResult::Outcome;

constexpr std::size_t kSmallEntryBytes = 200;

std::uint32_t first_of_chunk(std::string_view key) {
  return static_cast<std::uint32_t>(read_be(key, kPlaceBytes + 1, 4));
}

void put_open_run(WriteBatch& batch, const RunKey& place, StoredRun& stored) {
  const KeyBytes key = place_key(place.tenant, place.key);
  batch.txn.put(batch.tables.runs.handle, key, encode_run(key, stored));
  enter_open_run(batch, place, stored);
}

// Moves the resolved revision aside for an open one; lists go on showing its failures.
void step_back(WriteBatch& batch, const RunKey& place, std::uint32_t revision, std::string_view resolved_value) {
  const KeyBytes from = place_key(place.tenant, place.key);
  const KeyBytes to = previous_key(place, revision);
  batch.txn.put(batch.tables.previous.handle, to, decoded(batch.tables.runs, from, [&] { return seal_again(from, resolved_value, to); }));
}

// The run that a request is about, as stored before the request.
struct Target {
  RunKey place;
  std::optional<StoredRun> stored;  // nothing: the run is new
};

Target find_target(WriteBatch& batch, const EventsWrite& write) {
  Target target{{write.tenant, write.key}, std::nullopt};
  const auto place = find_run_place(batch.txn, batch.tables, write.tenant, write.run_id);
  if (!place) return target;
  target.stored = read_run_head(batch.txn, batch.tables, write.tenant, *place, OutlineToo::yes);
  if (target.stored) target.place.key = *place;
  return target;
}

NewEvents new_events(WriteBatch& batch, const EventsWrite& write, const Target& target) {
  const auto is_seen = [&](std::string_view half) {
    return batch.txn.get(batch.tables.events.handle, event_id_key(target.place, half)).has_value();
  };
  return new_events(write, batch.sealed, target.stored ? &*target.stored : nullptr, is_seen);
}

WriteResult answer(WriteBatch& batch, const EventsWrite& write, Outcome outcome, const Buffered& buffered) {
  remember_answer(batch, write.tenant, write.idempotency,
                  {.kind = IdempotentAnswer::Kind::events, .record = buffered.run, .revision = buffered.revision, .buffered = buffered});
  WriteResult result{outcome, {}, {}};
  result.buffered = buffered;
  return result;
}

// If nothing in the request is new, only its answer is remembered.
std::optional<WriteResult> nothing_new(WriteBatch& batch, const EventsWrite& write, const Target& target, const NewEvents& fresh) {
  if (!target.stored || !fresh.json.empty()) return std::nullopt;
  Buffered buffered = how_it_stands(target.place.key, *target.stored);
  if (target.stored->buffering) {
    if (fresh.final && !target.stored->buffering->ending) return std::nullopt;
    return answer(batch, write, Outcome::stored, buffered);
  }
  buffered.unchanged = true;
  WriteResult result = answer(batch, write, Outcome::replayed, buffered);
  result.first = std::move(read_run(batch.txn, batch.tables, write.tenant, target.place.key)->run);
  return result;
}

// Makes target.stored an open run, whatever its state. True: it was resolved.
bool open_target(WriteBatch& batch, const EventsWrite& write, Target& target) {
  if (!target.stored) {
    target.stored = begun_run(write);
    enter_run(batch, target.place, write.run_id);
    return false;
  }
  if (target.stored->buffering) return false;
  const KeyBytes key = place_key(target.place.tenant, target.place.key);
  const auto value = batch.txn.get(batch.tables.runs.handle, key);
  step_back(batch, target.place, target.stored->run.revision, std::string(*value));
  reopen_run(*target.stored, write.key.time_ms);
  return true;
}

void add_events(WriteBatch& batch, const EventsWrite& write, Target& target, const NewEvents& fresh) {
  if (!fresh.json.empty()) {
    const KeyBytes key = chunk_key(target.place, target.stored->buffering->total);
    batch.txn.put(batch.tables.events.handle, key, encode_events(key, write.key.time_ms, fresh.json));
  }
  for (const std::string_view id : fresh.ids) batch.txn.put(batch.tables.events.handle, event_id_key(target.place, id), {});
  add_to_run(*target.stored, write, fresh);
}

bool is_row_of(std::string_view key, const RunKey& place, EventPart part) {
  const std::size_t bytes = kPlaceBytes + (part == EventPart::chunk ? 5 : 1);
  return key.size() == bytes && key.starts_with(part_key(place, part).view());
}

// The end of a row that does not say so itself: where the next row begins, or the run ends.
std::uint32_t end_of_row(const RunEvents& of, std::string_view key) {
  Cursor cursor(of.txn, of.tables.events.handle);
  if (!cursor.at_or_after(key) || !cursor.next() || !is_row_of(cursor.key(), of.place, EventPart::chunk)) return of.total;
  return std::min(of.total, first_of_chunk(cursor.key()));
}

void report(const RunEvents& of, const StoreError& bad) {
  if (of.on_unreadable) of.on_unreadable(bad.what());
}

// Erases the buffered events up to `upto`, and returns what is left.
EventsBeyond erase_chunks(WriteBatch& batch, const RunEvents& of, std::uint32_t upto) {
  EventsBeyond rest;
  std::vector<std::string> split;  // the part of a chunk beyond the end
  std::int64_t split_ms = 0;
  std::vector<std::string> erased;
  walk_event_rows(of, [&](EventRow& row) {
    if (row.packed) return true;
    if (rest.first_ms == 0) rest.first_ms = row.received_ms;
    if (row.first >= upto) {
      rest.bytes += row.bytes;
      rest.last_ms = row.received_ms;
      return true;
    }
    if (row.first + row.count > upto) {
      split = events_in(of, row).value_or(std::vector<std::string>(row.count));
      split.erase(split.begin(), split.begin() + (upto - row.first));
      split_ms = row.received_ms;
    } else {
      rest.first_ms = 0;
    }
    erased.emplace_back(row.key);
    return true;
  });
  for (const std::string& key : erased) batch.txn.erase(batch.tables.events.handle, key);
  if (split.empty()) return rest;
  const KeyBytes key = chunk_key(of.place, upto);
  batch.txn.put(batch.tables.events.handle, key, encode_events(key, split_ms, split));
  for (const std::string& event : split) rest.bytes += event.size();
  rest.last_ms = std::max(rest.last_ms, split_ms);
  return rest;
}

// Events came after the claim, so the revision that has just ended is moved aside at once.
void begin_next(WriteBatch& batch, const RunWrite& write, const StoredRun& open, const EventsBeyond& rest) {
  const RunKey place{write.tenant, write.run.key};
  step_back(batch, place, write.run.revision, batch.sealed.front());
  StoredRun next = following_revision(write, open, rest);
  put_open_run(batch, place, next);
}

bool holds(const WriteBatch& batch, const Claim& claim, const std::optional<StoredRun>& stored) {
  if (batch.claims == nullptr || !batch.claims->holds({claim.tenant, claim.run}, claim.token)) return false;
  return stored && covers(claim, *stored);
}

}  // namespace

OpenRunIndex::Awaits awaited_by(const model::RunRecord& run) {
  if (run.source == model::RunSource::client) return OpenRunIndex::Awaits::events;
  return run.root_arrived ? OpenRunIndex::Awaits::spans : OpenRunIndex::Awaits::root;
}

void enter_open_run(WriteBatch& batch, const RunKey& place, const StoredRun& stored) {
  const Buffering& buffering = *stored.buffering;
  const KeyBytes key = place_key(place.tenant, place.key);
  const auto awaits = awaited_by(stored.run);
  KeyBytes state = KeyBytes().time(buffering.first_ms).u32(stored.run.revision).u8(buffering.ending ? 1 : 0);
  if (awaits != OpenRunIndex::Awaits::events) state.u8(static_cast<std::uint8_t>(awaits));
  const std::string value = seal(key, state);
  if (batch.txn.get(batch.tables.open_runs.handle, key) != std::string_view(value)) {
    batch.txn.put(batch.tables.open_runs.handle, key, value);
  }
  const auto part = buffering.ending ? OpenRunIndex::Part::complete : OpenRunIndex::Part::more_to_come;
  batch.open_runs.push_back({place, stored.run.revision, part, awaits});
}

std::vector<std::string> seal_events(const EventsWrite& write) {
  return halves_of(write, [](const std::string& id) { return std::string(view(half_digest(id))); });
}

WriteResult write_events(WriteBatch& batch, const EventsWrite& write) {
  if (auto before = replay_run(batch, write.tenant, write.idempotency)) return std::move(*before);
  Target target = find_target(batch, write);
  if (target.stored && target.stored->run.source != write.source) return {Outcome::run_conflict, {}, {}};
  const NewEvents fresh = new_events(batch, write, target);
  if (auto same = nothing_new(batch, write, target, fresh)) return std::move(*same);
  std::size_t wanted = fresh.bytes + (fresh.ids.size() / 8 + 3) * kSmallEntryBytes;
  if (target.stored && !target.stored->buffering)
    wanted += batch.txn.get(batch.tables.runs.handle, place_key(write.tenant, target.place.key))->size();
  if (!batch.room.admit(wanted)) return {Outcome::unavailable, {}, {}};
  const bool reopened = open_target(batch, write, target);
  add_events(batch, write, target, fresh);
  put_open_run(batch, target.place, *target.stored);
  Buffered buffered = how_it_stands(target.place.key, *target.stored);
  buffered.accepted = static_cast<std::uint32_t>(fresh.json.size());
  buffered.reopened = reopened;
  return answer(batch, write, Outcome::stored, buffered);
}

void walk_event_rows(const RunEvents& of, const std::function<bool(EventRow& row)>& visit) {
  const Table& table = of.tables.events;
  std::int64_t received_ms = of.place.key.time_ms;
  Cursor cursor(of.txn, table.handle);
  for (bool more = cursor.at_or_after(part_key(of.place, EventPart::packed)); more; more = cursor.next()) {
    EventRow row;
    row.key = cursor.key();
    row.value = cursor.value();
    row.packed = is_row_of(row.key, of.place, EventPart::packed);
    if (!row.packed && !is_row_of(row.key, of.place, EventPart::chunk)) return;
    if (!row.packed) row.first = first_of_chunk(row.key);
    try {
      const EventChunk head = decoded(table, row.key, [&] { return decode_events_head(row.key, row.value); });
      row.count = head.count;
      row.received_ms = received_ms = head.received_ms;
      row.bytes = head.bytes;
    } catch (const StoreError& bad) {
      report(of, bad);
      row.readable = false;
      row.received_ms = received_ms;
      row.count = std::max(end_of_row(of, row.key), row.first) - row.first;
    }
    if (!visit(row)) return;
  }
}

std::optional<std::vector<std::string>> events_in(const RunEvents& of, EventRow& row) {
  if (!row.readable) return std::nullopt;
  try {
    return decoded(of.tables.events, row.key, [&] { return decode_events(row.key, row.value); });
  } catch (const StoreError& bad) {
    report(of, bad);
    row.readable = false;
    return std::nullopt;
  }
}

std::vector<std::string> read_events(const RunEvents& of, std::uint32_t from) {
  std::vector<std::string> events;
  walk_event_rows(of, [&](EventRow& row) {
    if (row.first >= of.total) return false;
    if (row.first + row.count <= from) return true;
    auto in_row = events_in(of, row);
    if (!in_row) return true;
    if (in_row->size() > of.total - row.first) in_row->resize(of.total - row.first);
    for (std::size_t i = from > row.first ? from - row.first : 0; i < in_row->size(); ++i) {
      if (std::string& event = (*in_row)[i]; !event.empty()) events.push_back(std::move(event));
    }
    return true;
  });
  return events;
}

std::string seal_claimed_events(const Txn& txn, const Tables& tables, const RunWrite& write) {
  const RunKey place{write.tenant, write.claim->run};
  const std::uint32_t upto = write.claim->upto;
  const std::function<void(const std::string&)> reported_before;  // unreadable rows were reported when the claim was judged
  const RunEvents of{txn, tables, place, upto, reported_before};
  std::vector<std::string> events;
  events.reserve(upto);
  walk_event_rows(of, [&](EventRow& row) {
    if (row.first >= upto) return false;
    events.resize(row.first);
    if (auto in_row = events_in(of, row)) std::move(in_row->begin(), in_row->end(), std::back_inserter(events));
    return true;
  });
  events.resize(upto);
  const KeyBytes key = part_key(place, EventPart::packed);
  return encode_events(key, write.run.resolved_ms, events);
}

WriteResult write_claimed(WriteBatch& batch, const RunWrite& write) {
  if (auto before = answered_before(batch, write)) return std::move(*before);
  const RunKey place{write.tenant, write.claim->run};
  const auto stored = read_run_head(batch.txn, batch.tables, place.tenant, place.key, OutlineToo::yes);
  if (!holds(batch, *write.claim, stored)) {
    WriteResult lost{Outcome::run_conflict, {}, {}};
    if (stored) lost.first = std::move(read_run(batch.txn, batch.tables, place.tenant, place.key)->run);
    return lost;
  }
  if (!batch.room.admit(bytes_to_write(batch) + bytes_to_write(write.opinions))) return {Outcome::unavailable, {}, {}};
  erase_opinions(batch, place);  // of the previous revision
  for (const model::Opinion& opinion : write.opinions) put_opinion(batch.txn, batch.tables, write.tenant, opinion);
  const std::vector<model::FailureRecord> failures = replace_failures(batch, write, *stored);
  leave_dimensions(batch, place, stored->run.dimensions);
  enter_dimensions(batch, place, write.run.dimensions);
  enter_affected(batch, place, write.run.dimensions, failures);
  const std::function<void(const std::string&)> reported_before;
  const EventsBeyond rest =
      erase_chunks(batch, {batch.txn, batch.tables, place, stored->buffering->total, reported_before}, write.claim->upto);
  if (write.claim->upto > 0) batch.txn.put(batch.tables.events.handle, part_key(place, EventPart::packed), batch.sealed.back());
  if (stored->buffering->total > write.claim->upto) {
    begin_next(batch, write, *stored, rest);
  } else {
    const KeyBytes key = place_key(place.tenant, place.key);
    batch.txn.put(batch.tables.runs.handle, key, batch.sealed.front());
    batch.txn.erase(batch.tables.open_runs.handle, key);
    batch.open_runs.push_back({place, stored->run.revision, std::nullopt});
  }
  remember_answer(batch, write.tenant, write.idempotency, {.record = place.key, .revision = write.run.revision});
  return {Outcome::stored, {}, {}};
}

namespace {

struct OpenRunState {
  OpenRunIndex::State state;
  std::int64_t first_ms = 0;
  std::optional<std::int64_t> last_ms;
};

OpenRunIndex::Part part_of(bool ending) {
  return ending ? OpenRunIndex::Part::complete : OpenRunIndex::Part::more_to_come;
}

// What the row of an open run says, which is less than the run does.
OpenRunState read_open_run(std::string_view key, std::string_view value) {
  constexpr std::size_t kStateBytes = 13;
  const std::string_view state = open_head(key, value);
  if (state.size() < kStateBytes) throw BadValue("the state is truncated");
  const auto last = static_cast<std::uint8_t>(OpenRunIndex::Awaits::spans);
  const auto awaits = state.size() > kStateBytes ? std::min(static_cast<std::uint8_t>(state[kStateBytes]), last) : std::uint8_t{0};
  const auto revision = static_cast<std::uint32_t>(read_be(state, 8, 4));
  return {{revision, part_of(state[12] != 0), static_cast<OpenRunIndex::Awaits>(awaits)}, read_time(state, 0), {}};
}

std::optional<OpenRunState> state_of_run(const Txn& txn, const Tables& tables, const RunKey& place) {
  const auto stored = read_run_head(txn, tables, place.tenant, place.key);
  if (!stored || !stored->buffering) return std::nullopt;
  const Buffering& buffering = *stored->buffering;
  const OpenRunIndex::State state{stored->run.revision, part_of(buffering.ending.has_value()), awaited_by(stored->run)};
  return OpenRunState{state, buffering.first_ms, buffering.last_ms};
}

std::optional<OpenRunState> open_run_state(const Txn& txn, const Tables& tables, const Cursor& at, const LoadedAt& now) {
  std::optional<OpenRunState> state;
  try {
    state = decoded(tables.open_runs, at.key(), [&] { return read_open_run(at.key(), at.value()); });
  } catch (const StoreError& bad) {
    if (now.on_unreadable) now.on_unreadable(bad.what());
  }
  try {
    if (auto of_run = state_of_run(txn, tables, {tenant_of(at.key()), record_key_of(at.key())})) state = of_run;
  } catch (const StoreError& bad) {
    if (!state && now.on_unreadable) now.on_unreadable(bad.what());  // else whoever ends the run reports it
  }
  return state;
}

}  // namespace

void load_open_runs(const Txn& txn, const Tables& tables, OpenRunIndex& index, const LoadedAt& now) {
  Cursor cursor(txn, tables.open_runs.handle);
  for (bool more = cursor.first(); more; more = cursor.next()) {
    const auto state = open_run_state(txn, tables, cursor, now);
    if (!state) continue;
    const RunKey place{tenant_of(cursor.key()), record_key_of(cursor.key())};
    const OpenRunIndex::Age age{now.wall_ms - state->first_ms, now.wall_ms - state->last_ms.value_or(now.wall_ms)};
    index.load(place, state->state, age, now.monotonic_ms);
  }
}

}  // namespace runwarden::store
