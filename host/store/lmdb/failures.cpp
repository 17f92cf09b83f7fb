#include "store/lmdb/failures.h"

#include "model/record_ids.h"
#include "store/record_codec.h"

namespace runwarden::store {
namespace {

KeyBytes fingerprint_prefix(model::TenantId tenant, const Half& half) {
  return KeyBytes().u32(tenant).bytes(view(half));
}

KeyBytes fingerprint_key(model::TenantId tenant, const Half& half, const model::RecordKey& key) {
  return fingerprint_prefix(tenant, half).time(key.time_ms).u64(key.seq);
}

}  // namespace

void put_failure(WriteBatch& batch, model::TenantId tenant, const model::FailureRecord& failure, std::string_view value) {
  if (failure.shadow) return batch.txn.put(batch.tables.shadow_failures.handle, place_key(tenant, failure.key), value);
  const Half half = half_digest(failure.fingerprint);
  batch.txn.put(batch.tables.failures.handle, place_key(tenant, failure.key), value);
  batch.txn.put(batch.tables.fingerprints.handle, fingerprint_key(tenant, half, failure.key), {});
  batch.counts.add(tenant, half, failure.key.time_ms, 1);
  if (failure.grouped) enter_group(batch, tenant, failure);
}

bool erase_failure(WriteBatch& batch, model::TenantId tenant, const model::RecordKey& key, Gone gone) {
  const KeyBytes place = place_key(tenant, key);
  batch.groups.log.note(tenant);
  const auto value = batch.txn.get(batch.tables.failures.handle, place);
  if (!value) return batch.txn.erase(batch.tables.shadow_failures.handle, place);
  // A failure that cannot be read goes all the same, without its fingerprint's entries.
  try {
    const model::FailureRecord failure = decoded(batch.tables.failures, place, [&] { return decode_failure_head(place, *value); });
    const Half half = half_digest(failure.fingerprint);
    batch.txn.erase(batch.tables.fingerprints.handle, fingerprint_key(tenant, half, key));
    batch.counts.add(tenant, half, key.time_ms, -1);
    leave_affected(batch, tenant, failure);
    leave_group(batch, tenant, failure, gone);
  } catch (const StoreError&) {
  }
  batch.txn.erase(batch.tables.failures.handle, place);
  return true;
}

std::optional<model::FailureRecord> find_failure(const Txn& txn, const Tables& tables, model::TenantId tenant, std::string_view id) {
  const auto spelled = model::parse_failure_id(id);
  if (!spelled) return std::nullopt;
  const KeyBytes key = place_key(tenant, *spelled);
  for (const Table* table : {&tables.failures, &tables.shadow_failures}) {
    const auto value = txn.get(table->handle, key);
    if (!value) continue;
    auto failure = decoded(*table, key, [&] { return decode_failure(key, *value); });
    if (failure.id != id) return std::nullopt;
    failure.shadow = table == &tables.shadow_failures;
    return failure;
  }
  return std::nullopt;
}

FingerprintStats fingerprint_stats(const Txn& txn, const Tables& tables, model::TenantId tenant, std::string_view fingerprint) {
  const Half half = half_digest(fingerprint);
  FingerprintStats stats;
  stats.failures = count_all(txn, tables, tenant, half);
  const KeyBytes prefix = fingerprint_prefix(tenant, half);
  const std::size_t time_at = prefix.view().size();
  Cursor cursor(txn, tables.fingerprints.handle);
  if (cursor.at_or_after(prefix) && cursor.key().starts_with(prefix.view())) stats.first_ms = read_time(cursor.key(), time_at);
  const KeyBytes beyond = KeyBytes(prefix).u64(~std::uint64_t{0}).u64(~std::uint64_t{0});
  if (cursor.before(beyond) && cursor.key().starts_with(prefix.view())) stats.last_ms = read_time(cursor.key(), time_at);
  return stats;
}

}  // namespace runwarden::store
