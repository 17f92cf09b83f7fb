#include "store/lmdb/failures.h"

#include <algorithm>

#include "model/cluster.h"
#include "model/record_ids.h"
#include "store/earlier_failures.h"
#include "store/lmdb/reviews.h"
#include "store/lmdb/runs.h"
#include "store/record_codec.h"

namespace runwarden::store {
namespace {

constexpr std::string_view kFalseAlarm = "false_alarm";  // for human readers; what counts is that there is a value

KeyBytes fingerprint_key(model::TenantId tenant, const Half& half, const model::RecordKey& key) {
  return cluster_row_key(tenant, half).time(key.time_ms).u64(key.seq);
}

void put_in_index(WriteBatch& batch, model::TenantId tenant, const Half& half, const model::FailureRecord& failure) {
  const KeyBytes index = fingerprint_key(tenant, half, failure.key);
  batch.txn.put(batch.tables.fingerprints.handle, index, failure.is_false_alarm() ? seal(index, kFalseAlarm) : std::string());
}

// Nothing: it has expired or cannot be read.
std::optional<model::FailureRecord> read_head(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& at) {
  const KeyBytes key = place_key(tenant, at);
  const auto counted = txn.get(tables.failures.handle, key);
  const auto value = counted ? counted : txn.get(tables.shadow_failures.handle, key);
  if (!value) return std::nullopt;
  try {
    model::FailureRecord failure = decode_failure_head(key, *value);
    failure.shadow = !counted;
    return failure;
  } catch (const BadValue&) {
    return std::nullopt;
  }
}

}  // namespace

void put_failure(WriteBatch& batch, model::TenantId tenant, const model::FailureRecord& failure, std::string_view value, Addition comes) {
  if (failure.shadow) return batch.txn.put(batch.tables.shadow_failures.handle, place_key(tenant, failure.key), value);
  const Half half = half_digest(failure.fingerprint);
  batch.txn.put(batch.tables.failures.handle, place_key(tenant, failure.key), value);
  put_in_index(batch, tenant, half, failure);
  if (failure.is_false_alarm()) return;
  batch.counts.add(tenant, half, failure.key.time_ms, 1);
  if (failure.grouped) enter_group(batch, tenant, failure, comes);
}

bool erase_failure(WriteBatch& batch, model::TenantId tenant, const model::RecordKey& key, Removal gone) {
  const KeyBytes place = place_key(tenant, key);
  batch.groups.log.note(tenant);
  const auto value = batch.txn.get(batch.tables.failures.handle, place);
  if (!value) return batch.txn.erase(batch.tables.shadow_failures.handle, place);
  // A failure that cannot be read is deleted, too, without its fingerprint's entries.
  try {
    const model::FailureRecord failure = decoded(batch.tables.failures, place, [&] { return decode_failure_head(place, *value); });
    const Half half = half_digest(failure.fingerprint);
    batch.txn.erase(batch.tables.fingerprints.handle, fingerprint_key(tenant, half, key));
    if (!failure.is_false_alarm()) {
      batch.counts.add(tenant, half, key.time_ms, -1);
      leave_affected(batch, tenant, failure);
      leave_group(batch, tenant, failure, gone);
    }
  } catch (const StoreError&) {
  }
  batch.txn.erase(batch.tables.failures.handle, place);
  return true;
}

void note_reviewed(WriteBatch& batch, model::TenantId tenant, const model::Review& review) {
  const auto spelled = model::parse_failure_id(review.failure_id);
  if (!spelled) return;
  const KeyBytes place = place_key(tenant, *spelled);
  auto value = batch.txn.get(batch.tables.failures.handle, place);
  const bool shadow = !value;
  const Table& table = shadow ? batch.tables.shadow_failures : batch.tables.failures;
  if (shadow) value = batch.txn.get(table.handle, place);
  if (!value) return;
  model::FailureRecord failure = decoded(table, place, [&] { return decode_failure(place, *value); });
  if (failure.id != review.failure_id || failure.reviewed == review.verdict) return;
  const bool was = failure.is_false_alarm();
  failure.reviewed = review.verdict;
  const bool is = failure.is_false_alarm();
  batch.txn.put(table.handle, place, with_verdict(place, std::string(*value), review.verdict));
  if (shadow) return;
  const Half half = half_digest(failure.fingerprint);
  if (was != is) {
    put_in_index(batch, tenant, half, failure);
    batch.counts.add(tenant, half, failure.key.time_ms, is ? -1 : 1);
  }
  if (is) {
    leave_affected(batch, tenant, failure);
    leave_group(batch, tenant, failure, Removal::false_alarm);
  } else if (was && failure.grouped) {
    return_affected(batch, tenant, failure);
    enter_group(batch, tenant, failure, Addition::restored);
  }
  if (!failure.grouped) return;
  ClusterChange& change = batch.groups.clusters[{tenant, half}];
  change.review = review.key;
  change.confirmed = change.confirmed || review.verdict == model::ReviewVerdict::right;
}

std::vector<EarlierFailure> earlier_failures(const Txn& txn, const Tables& tables, const RunKey& run) {
  std::vector<EarlierFailure> earlier;
  const auto stored = read_run_head(txn, tables, run.tenant, run.key);
  if (!stored) return earlier;
  for (const model::RecordKey& key : stored->failures) {
    const auto head = read_head(txn, tables, run.tenant, key);
    if (head) earlier.push_back({key, head->detector_key, model::cluster_id(half_digest(head->fingerprint)), head->shadow});
  }
  add_reviewed(earlier, reviews_of_run(txn, tables, run.tenant, run.key));
  return earlier;
}

std::vector<model::FailureRecord> replace_failures(WriteBatch& batch, const RunWrite& write, const StoredRun& before) {
  std::vector<model::FailureRecord> failures = write.failures;
  const auto was_there = [&](const model::FailureRecord& failure) {
    return std::find(before.failures.begin(), before.failures.end(), failure.key) != before.failures.end();
  };
  const auto is_there = [&](const model::RecordKey& key) {
    return std::any_of(failures.begin(), failures.end(), [&](const model::FailureRecord& failure) { return failure.key == key; });
  };
  for (const model::RecordKey& key : before.failures)
    erase_failure(batch, write.tenant, key, is_there(key) ? Removal::replaced : Removal::taken_back);
  for (std::size_t i = 0; i < failures.size(); ++i) {
    model::FailureRecord& failure = failures[i];
    if (write.run.revision > 1) failure.reviewed = last_verdict(batch.txn, batch.tables, write.tenant, failure);
    const bool is_known = was_there(failure) || failure.reviewed != model::ReviewVerdict::none;
    const std::string& sealed = batch.sealed[i + 1];
    const std::string value = is_known ? with_verdict(place_key(write.tenant, failure.key), sealed, failure.reviewed) : std::string();
    put_failure(batch, write.tenant, failure, is_known ? value : sealed, is_known ? Addition::again : Addition::found);
  }
  return failures;
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
    read_review(txn, tables, tenant, failure);
    return failure;
  }
  return std::nullopt;
}

FingerprintStats fingerprint_stats(const Txn& txn, const Tables& tables, model::TenantId tenant, std::string_view fingerprint) {
  const Half half = half_digest(fingerprint);
  FingerprintStats stats;
  stats.failures = count_all(txn, tables, tenant, half);
  if (stats.failures == 0) return stats;
  if (const auto oldest = oldest_failure(txn, tables, tenant, half)) stats.first_ms = oldest->time_ms;
  if (const auto newest = newest_failure(txn, tables, tenant, half)) stats.last_ms = newest->time_ms;
  return stats;
}

}  // namespace runwarden::store
