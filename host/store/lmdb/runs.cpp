#include "store/lmdb/runs.h"

#include <utility>

#include "model/record_ids.h"
#include "store/lmdb/answers.h"
#include "store/lmdb/events.h"
#include "store/lmdb/failures.h"
#include "store/lmdb/opinions.h"
#include "store/page_filling.h"

namespace runwarden::store {
namespace {

using Outcome = WriteResult::Outcome;

constexpr std::size_t kSmallEntryBytes = 200;  // an idempotency record or an index entry, with its overhead

KeyBytes run_id_key(model::TenantId tenant, std::string_view run_id) {
  return KeyBytes().u32(tenant).bytes(run_id);
}

bool spells(std::string_view run_id, const model::RecordKey& key) {
  return run_id == model::make_run_id(key);
}

std::optional<WriteResult> same_run_id(WriteBatch& batch, const RunWrite& write) {
  const auto place = find_run_place(batch.txn, batch.tables, write.tenant, write.run.run_id);
  if (!place) return std::nullopt;
  auto stored = read_run(batch.txn, batch.tables, write.tenant, *place);
  if (!stored) return std::nullopt;
  const bool same = !stored->buffering && stored->run.content == write.run.content;
  return WriteResult{same ? Outcome::replayed : Outcome::run_conflict, std::move(stored->run), {}};
}

// Tenants are numbered from 1, so no tenant has this key.
KeyBytes canary_key() {
  return place_key(0, {});
}

void erase_all_below(WriteBatch& batch, const Table& table, std::string_view prefix) {
  Cursor cursor(batch.txn, table.handle);
  for (bool more = cursor.at_or_after(prefix); more && cursor.key().starts_with(prefix); more = cursor.next()) cursor.erase();
}

// An open run is built from its events, including those of previous revisions, and from the document of a first revision that came whole.
std::uint64_t open_run_bytes(const Txn& txn, const Tables& tables, const RunKey& place, const Buffering& buffering) {
  std::uint64_t bytes = buffering.bytes + buffering.total * kStepBytes;
  const auto add_body = [&](const Table& table, const KeyBytes& key) {
    const auto value = txn.get(table.handle, key);
    if (!value) return;
    try {
      bytes += body_bytes(key, *value);
    } catch (const BadValue&) {  // it is left out of the run, too
    }
  };
  if (buffering.previous > 0) add_body(tables.events, events_key(place, true, 0));
  add_body(tables.previous, previous_key(place, 1));
  return bytes;
}

}  // namespace

KeyBytes previous_key(const RunKey& place, std::uint32_t revision) {
  return place_key(place.tenant, place.key).u32(revision);
}

std::optional<model::RecordKey> find_run_place(const Txn& txn, const Tables& tables, model::TenantId tenant, std::string_view run_id) {
  const KeyBytes key = run_id_key(tenant, run_id);
  if (const auto value = txn.get(tables.run_ids.handle, key)) {
    return decoded(tables.run_ids, key, [&] { return decode_place(key, *value); });
  }
  // A client may have made up an id that looks like one of ours: the record there decides.
  const auto spelled = model::parse_run_id(run_id);
  if (!spelled) return std::nullopt;
  const auto stored = read_run_head(txn, tables, tenant, *spelled);
  if (!stored || stored->run.run_id != run_id) return std::nullopt;
  return spelled;
}

std::optional<StoredRun> read_run(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& place) {
  const KeyBytes key = place_key(tenant, place);
  const auto value = txn.get(tables.runs.handle, key);
  if (!value) return std::nullopt;
  return decoded(tables.runs, key, [&] { return decode_run(key, *value); });
}

std::optional<StoredRun> read_run_head(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& place,
                                       OutlineToo outline) {
  const KeyBytes key = place_key(tenant, place);
  const auto value = txn.get(tables.runs.handle, key);
  if (!value) return std::nullopt;
  return decoded(tables.runs, key, [&] { return decode_run_head(key, *value, outline); });
}

model::RunRecord sized_head(const Txn& txn, const Tables& tables, std::string_view key, std::string_view value, StoredRun head) {
  head.run.json_bytes = kOwnRunBytes;
  if (head.buffering) {
    head.run.json_bytes += open_run_bytes(txn, tables, {tenant_of(key), record_key_of(key)}, *head.buffering);
  } else {
    head.run.json_bytes += decoded(tables.runs, key, [&] { return body_bytes(key, value); });
  }
  return std::move(head.run);
}

std::optional<model::RunRecord> read_sized_head(const Txn& txn, const Tables& tables, const RunKey& place,
                                                std::optional<std::uint32_t> revision) {
  const Table& table = revision ? tables.previous : tables.runs;
  const KeyBytes key = revision ? previous_key(place, *revision) : place_key(place.tenant, place.key);
  const auto value = txn.get(table.handle, key);
  if (!value) return std::nullopt;
  return sized_head(txn, tables, key, *value, decoded(table, key, [&] { return decode_run_head(key, *value, OutlineToo::yes); }));
}

std::optional<StoredRun> read_previous(const Txn& txn, const Tables& tables, const RunKey& place, std::uint32_t revision) {
  const KeyBytes key = previous_key(place, revision);
  const auto value = txn.get(tables.previous.handle, key);
  if (!value) return std::nullopt;
  return decoded(tables.previous, key, [&] { return decode_run(key, *value); });
}

void enter_run(WriteBatch& batch, const RunKey& place, std::string_view run_id) {
  if (!spells(run_id, place.key)) {
    const KeyBytes key = run_id_key(place.tenant, run_id);
    batch.txn.put(batch.tables.run_ids.handle, key, encode_place(key, place.key));
  }
  batch.counts.add(place.tenant, kRunSeries, place.key.time_ms, 1);
}

ErasedRun erase_run(WriteBatch& batch, const RunKey& place) {
  ErasedRun erased;
  const KeyBytes key = place_key(place.tenant, place.key);
  if (!batch.txn.get(batch.tables.runs.handle, key)) return erased;
  erased.was_there = true;
  batch.groups.log.note(place.tenant);
  if (batch.ledger) batch.ledger->erase(place.tenant, ledger::Kind::run, place_name(place.key));
  // A run that cannot be read is erased, too; its entry in the index of runIds then leads nowhere.
  try {
    StoredRun stored = *read_run_head(batch.txn, batch.tables, place.tenant, place.key);
    const std::string& run_id = stored.run.run_id;
    erased.events = stored.buffering ? stored.buffering->total : stored.run.events;
    leave_affected(batch, place, stored);
    leave_dimensions(batch, place, stored.run.dimensions);
    erased.failures = std::move(stored.failures);
    if (!spells(run_id, place.key)) batch.txn.erase(batch.tables.run_ids.handle, run_id_key(place.tenant, run_id));
  } catch (const StoreError&) {
  }
  batch.txn.erase(batch.tables.runs.handle, key);
  erase_all_below(batch, batch.tables.previous, key);
  erase_all_below(batch, batch.tables.events, key);
  erase_opinions(batch, place);
  if (batch.txn.erase(batch.tables.open_runs.handle, key)) batch.open_runs.push_back({place, 0, std::nullopt});
  batch.counts.add(place.tenant, kRunSeries, place.key.time_ms, -1);
  return erased;
}

std::size_t bytes_to_write(const WriteBatch& batch) {
  std::size_t bytes = kSmallEntryBytes;
  for (const std::string& value : batch.sealed) bytes += value.size() + kSmallEntryBytes;
  return bytes;
}

std::optional<WriteResult> replay_run(WriteBatch& batch, model::TenantId tenant, const std::optional<Idempotency>& idempotency) {
  if (!idempotency) return std::nullopt;
  const auto answer = find_answer(batch.txn, batch.tables, tenant, idempotency->identity, batch.times);
  if (!answer) return std::nullopt;
  if (answer->idempotency.content != idempotency->content) return WriteResult{Outcome::idempotency_conflict, {}, {}};
  auto stored = read_run(batch.txn, batch.tables, tenant, answer->record);
  if (!stored) return std::nullopt;  // retention deleted the run: it is new again
  WriteResult result{Outcome::replayed, std::move(stored->run), {}};
  result.buffered = answer->buffered;
  return result;
}

std::optional<WriteResult> answered_before(WriteBatch& batch, const RunWrite& write) {
  if (auto before = replay_run(batch, write.tenant, write.idempotency)) return before;
  if (write.claim) return std::nullopt;
  auto before = same_run_id(batch, write);
  if (before && before->outcome == Outcome::replayed) {
    remember_answer(batch, write.tenant, write.idempotency, {.record = before->first->key, .revision = before->first->revision});
  }
  return before;
}

WriteResult write_run(WriteBatch& batch, const RunWrite& write) {
  if (auto before = answered_before(batch, write)) return std::move(*before);
  if (!batch.room.admit(bytes_to_write(batch) + bytes_to_write(write.opinions))) return {Outcome::unavailable, {}, {}};
  batch.txn.put(batch.tables.runs.handle, place_key(write.tenant, write.run.key), batch.sealed.front());
  enter_run(batch, {write.tenant, write.run.key}, write.run.run_id);
  for (std::size_t i = 0; i < write.failures.size(); ++i) put_failure(batch, write.tenant, write.failures[i], batch.sealed[i + 1]);
  for (const model::Opinion& opinion : write.opinions) put_opinion(batch.txn, batch.tables, write.tenant, opinion);
  enter_dimensions(batch, {write.tenant, write.run.key}, write.run.dimensions);
  enter_affected(batch, {write.tenant, write.run.key}, write.run.dimensions, write.failures);
  remember_answer(batch, write.tenant, write.idempotency, {.record = write.run.key, .revision = write.run.revision});
  return {Outcome::stored, {}, {}};
}

WriteResult write_answer(WriteBatch& batch, const AnswerWrite& write) {
  if (auto before = replay_run(batch, write.tenant, write.idempotency)) return std::move(*before);
  if (!batch.room.admit(kSmallEntryBytes)) return {Outcome::unavailable, {}, {}};
  remember_answer(batch, write.tenant, write.idempotency, {.record = write.run, .revision = write.revision});
  return {Outcome::stored, {}, {}};
}

WriteResult write_canary(WriteBatch& batch, const CanaryWrite& write) {
  StoredRun stored;
  stored.run = write.run;
  const std::string value = encode_run(canary_key(), stored);
  if (!batch.room.admit(value.size() + kSmallEntryBytes)) return {Outcome::unavailable, {}, {}};
  batch.txn.put(batch.tables.canary.handle, canary_key(), value);
  return {Outcome::stored, {}, {}};
}

std::optional<model::RunRecord> read_canary(const Txn& txn, const Tables& tables) {
  const KeyBytes key = canary_key();
  const auto value = txn.get(tables.canary.handle, key);
  if (!value) return std::nullopt;
  return decoded(tables.canary, key, [&] { return decode_run(key, *value).run; });
}

}  // namespace runwarden::store
