#include "store/lmdb_runs.h"

#include <utility>

#include "model/record_ids.h"

namespace runwarden::store {
namespace {

using Outcome = WriteResult::Outcome;

constexpr std::int64_t kDayMs = std::int64_t{24} * 3600 * 1000;
constexpr std::size_t kSmallEntryBytes = 200;  // an idempotency record or an index entry with what surrounds it

KeyBytes run_id_key(model::TenantId tenant, std::string_view run_id) {
  return KeyBytes().u32(tenant).bytes(run_id);
}

std::uint32_t day_of(std::int64_t ms) {
  return ms < 0 ? 0 : static_cast<std::uint32_t>(ms / kDayMs);
}

// Days first, so that new entries stand together and old ones go in one range; half the digest is enough to tell identities
// apart in a key, and the value holds the whole.
KeyBytes answered_key(std::uint32_t day, model::TenantId tenant, const model::Digest& identity) {
  return KeyBytes().u32(day).u32(tenant).bytes({reinterpret_cast<const char*>(identity.data()), identity.size() / 2});
}

std::optional<WriteResult> replay(const Txn& txn, const Tables& tables, const RunWrite& write, const IdempotencyTimes& times) {
  if (!write.idempotency) return std::nullopt;
  const auto answered = find_answered(txn, tables, write.tenant, write.idempotency->identity, times);
  if (!answered) return std::nullopt;
  if (answered->idempotency.content != write.idempotency->content) return WriteResult{Outcome::idempotency_conflict, {}, {}};
  auto stored = read_run(txn, tables, write.tenant, answered->record);
  if (!stored) return std::nullopt;  // retention took the run: it is new again
  return WriteResult{Outcome::replayed, std::move(stored->run), {}};
}

std::optional<WriteResult> same_run_id(const Txn& txn, const Tables& tables, const RunWrite& write) {
  const auto place = find_run_place(txn, tables, write.tenant, write.run.run_id);
  if (!place) return std::nullopt;
  auto stored = read_run(txn, tables, write.tenant, *place);
  if (!stored) return std::nullopt;
  if (stored->run.content != write.run.content) return WriteResult{Outcome::run_conflict, {}, {}};
  return WriteResult{Outcome::replayed, std::move(stored->run), {}};
}

void remember_answer(WriteTxn& txn, const Tables& tables, const RunWrite& write, const model::RunRecord& run,
                     const IdempotencyTimes& times) {
  if (!write.idempotency) return;
  write_answered(txn, tables, write.tenant, {*write.idempotency, times.now_ms, run.key, run.revision});
}

std::size_t prepared_bytes(const RunWrite& write) {
  std::size_t bytes = kSmallEntryBytes;
  for (const std::string& value : write.prepared) bytes += value.size() + kSmallEntryBytes;
  return bytes;
}

}  // namespace

std::optional<model::RecordKey> find_run_place(const Txn& txn, const Tables& tables, model::TenantId tenant, std::string_view run_id) {
  const KeyBytes key = run_id_key(tenant, run_id);
  if (const auto value = txn.get(tables.run_ids.handle, key)) {
    return decoded(tables.run_ids, key, [&] { return decode_place(key, *value); });
  }
  // A client may have made up an id that looks like one of ours: the record there has the last word.
  const auto spelled = model::parse_run_id(run_id);
  if (!spelled) return std::nullopt;
  const KeyBytes place = place_key(tenant, *spelled);
  const auto value = txn.get(tables.runs.handle, place);
  if (!value) return std::nullopt;
  const StoredRun head = decoded(tables.runs, place, [&] { return decode_run_head(place, *value); });
  if (head.run.run_id != run_id) return std::nullopt;
  return spelled;
}

std::optional<StoredRun> read_run(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& place) {
  const KeyBytes key = place_key(tenant, place);
  const auto value = txn.get(tables.runs.handle, key);
  if (!value) return std::nullopt;
  return decoded(tables.runs, key, [&] { return decode_run(key, *value); });
}

std::optional<Answered> find_answered(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::Digest& identity,
                                      const IdempotencyTimes& times) {
  // One day ahead: the machine's clock may have been set back since.
  const std::uint32_t oldest = day_of(times.now_ms - times.keep_ms);
  for (std::uint32_t day = day_of(times.now_ms) + 1; day >= oldest; --day) {
    const KeyBytes key = answered_key(day, tenant, identity);
    const auto value = txn.get(tables.idempotency.handle, key);
    if (value) {
      const Answered answered = decoded(tables.idempotency, key, [&] { return decode_answered(key, *value); });
      if (answered.idempotency.identity == identity && answered.created_ms + times.keep_ms > times.now_ms) return answered;
    }
    if (day == 0) break;
  }
  return std::nullopt;
}

void write_answered(WriteTxn& txn, const Tables& tables, model::TenantId tenant, const Answered& answered) {
  const KeyBytes key = answered_key(day_of(answered.created_ms), tenant, answered.idempotency.identity);
  txn.put(tables.idempotency.handle, key, encode_answered(key, answered));
}

void prepare_run(RunWrite& write) {
  if (!write.prepared.empty()) return;
  write.prepared.reserve(write.failures.size() + 1);
  StoredRun stored;
  for (model::FailureRecord& failure : write.failures) {
    failure.run = write.run.key;
    stored.failures.push_back(failure.key);
  }
  stored.run = std::move(write.run);
  write.prepared.push_back(encode_run(place_key(write.tenant, stored.run.key), stored));
  write.run = std::move(stored.run);
  for (const model::FailureRecord& failure : write.failures) {
    write.prepared.push_back(encode_failure(place_key(write.tenant, failure.key), failure));
  }
}

WriteResult write_run(WriteTxn& txn, const Tables& tables, Room& room, const RunWrite& write, const IdempotencyTimes& times) {
  if (auto before = replay(txn, tables, write, times)) return std::move(*before);
  if (auto before = same_run_id(txn, tables, write)) {
    if (before->outcome == Outcome::replayed) remember_answer(txn, tables, write, *before->first, times);
    return std::move(*before);
  }
  if (!room.admit(prepared_bytes(write))) return {Outcome::unavailable, {}, {}};
  txn.put(tables.runs.handle, place_key(write.tenant, write.run.key), write.prepared.front());
  for (std::size_t i = 0; i < write.failures.size(); ++i) {
    txn.put(tables.failures.handle, place_key(write.tenant, write.failures[i].key), write.prepared[i + 1]);
  }
  if (write.run.run_id != model::make_run_id(write.run.key)) {
    const KeyBytes key = run_id_key(write.tenant, write.run.run_id);
    txn.put(tables.run_ids.handle, key, encode_place(key, write.run.key));
  }
  remember_answer(txn, tables, write, write.run, times);
  return {Outcome::stored, {}, {}};
}

}  // namespace runwarden::store
