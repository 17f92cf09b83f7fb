#include "store/lmdb_expire.h"

#include <string>
#include <vector>

#include "store/lmdb_answers.h"
#include "store/lmdb_failures.h"
#include "store/lmdb_policies.h"
#include "store/lmdb_runs.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kMostPassedOver = 4096;  // entries looked at and kept, in one go

// The places of one kind that are too old, tenant by tenant, at most that many. `keep` may pass one over.
template <class Keep>
std::vector<RunPlace> oldest(const Txn& txn, const Table& table, std::int64_t before_ms, const Retention& retention, std::size_t most,
                             Keep keep) {
  std::vector<RunPlace> found;
  if (before_ms == kBeginningMs) return found;
  std::size_t passed_over = 0;
  Cursor cursor(txn, table.handle);
  bool more = cursor.at_or_after(KeyBytes().u32(retention.tenant.value_or(0)));
  while (more && found.size() < most && passed_over < kMostPassedOver) {
    const RunPlace place{tenant_of(cursor.key()), record_key_of(cursor.key())};
    if (retention.tenant && place.tenant != *retention.tenant) break;
    if (place.key.time_ms >= before_ms) {
      more = cursor.at_or_after(KeyBytes().u32(place.tenant + 1));  // the rest of this tenant's are younger
      continue;
    }
    if (keep(place, cursor.value())) {
      ++passed_over;
    } else {
      found.push_back(place);
    }
    more = cursor.next();
  }
  return found;
}

// Which answers are too old. For one tenant: those given before its runs are deleted.
std::vector<std::string> old_answers(const WriteBatch& batch, const Retention& retention, std::size_t most) {
  std::vector<std::string> found;
  const Table& table = batch.tables.idempotency;
  const std::uint32_t kept_from = answers_kept_from_day(batch.times);
  Cursor cursor(batch.txn, table.handle);
  for (bool more = cursor.first(); more && found.size() < most; more = cursor.next()) {
    const std::string_view key = cursor.key();
    const auto day = static_cast<std::uint32_t>(read_be(key, 0, 4));
    if (retention.tenant) {
      if (read_be(key, 4, 4) != *retention.tenant) continue;
      const Answered answered = decoded(table, key, [&] { return decode_answered(key, cursor.value()); });
      if (answered.created_ms >= retention.runs_before_ms) continue;
    } else if (day >= kept_from) {
      break;
    }
    found.emplace_back(key);
  }
  return found;
}

std::uint64_t expire_runs(WriteBatch& batch, const Retention& retention, std::size_t most) {
  std::uint64_t gone = 0;
  const auto keep = [&](const RunPlace& place, std::string_view) {
    return !retention.open_runs_too && batch.txn.get(batch.tables.open_runs.handle, place_key(place.tenant, place.key));
  };
  for (const RunPlace& place : oldest(batch.txn, batch.tables.runs, retention.runs_before_ms, retention, most, keep)) {
    gone += erase_run(batch, place) ? 1 : 0;
  }
  return gone;
}

std::uint64_t expire_failures(WriteBatch& batch, const Retention& retention, std::size_t most) {
  std::uint64_t gone = 0;
  const auto none = [](const RunPlace&, std::string_view) { return false; };
  for (const Table* table : {&batch.tables.failures, &batch.tables.shadow_failures}) {
    for (const RunPlace& place : oldest(batch.txn, *table, retention.failures_before_ms, retention, most - gone, none)) {
      gone += erase_failure(batch, place.tenant, place.key) ? 1 : 0;
    }
  }
  return gone;
}

std::uint64_t expire_changes(WriteBatch& batch, const Retention& retention, std::size_t most) {
  std::uint64_t gone = 0;
  const auto none = [](const RunPlace&, std::string_view) { return false; };
  for (const RunPlace& place : oldest(batch.txn, batch.tables.changes, retention.changes_before_ms, retention, most, none)) {
    gone += erase_change(batch, place.tenant, place.key) ? 1 : 0;
  }
  return gone;
}

std::uint64_t expire_policies(WriteBatch& batch, const Retention& retention, std::size_t most) {
  std::uint64_t gone = 0;
  // A revision stays while it is the one in force, however old; unless the tenant itself goes.
  const auto keep = [&](const RunPlace& place, std::string_view) {
    if (retention.tenant) return false;
    const auto policy = read_policy(batch.txn, batch.tables, place.tenant, place.key);
    const auto in_force = policy ? policy_at(batch.txn, batch.tables, place.tenant, policy->policy, batch.times.now_ms) : std::nullopt;
    return in_force && in_force->key == place.key;
  };
  for (const RunPlace& place : oldest(batch.txn, batch.tables.policies, retention.policies_before_ms, retention, most, keep)) {
    gone += erase_policy(batch, place.tenant, place.key) ? 1 : 0;
  }
  return gone;
}

std::uint64_t expire_crash_marks(WriteBatch& batch, const Retention& retention, std::size_t most) {
  std::uint64_t gone = 0;
  const auto none = [](const RunPlace&, std::string_view) { return false; };
  for (const RunPlace& place : oldest(batch.txn, batch.tables.crash_marks, retention.runs_before_ms, retention, most, none)) {
    gone += batch.txn.erase(batch.tables.crash_marks.handle, place_key(place.tenant, place.key)) ? 1 : 0;
  }
  return gone;
}

}  // namespace

Expired expire_in(WriteBatch& batch, const Retention& retention, std::size_t most) {
  Expired gone;
  const auto left = [&] { return most - static_cast<std::size_t>(gone.total()); };
  gone.failures = expire_failures(batch, retention, left());
  if (left() > 0) gone.runs = expire_runs(batch, retention, left());
  if (left() > 0) gone.changes = expire_changes(batch, retention, left());
  if (left() > 0) gone.policies = expire_policies(batch, retention, left());
  if (left() > 0) {
    for (const std::string& key : old_answers(batch, retention, left())) {
      gone.idempotency_keys += batch.txn.erase(batch.tables.idempotency.handle, key) ? 1 : 0;
    }
  }
  if (left() > 0) gone.crash_marks = expire_crash_marks(batch, retention, left());
  gone.more = left() == 0;
  return gone;
}

}  // namespace runwarden::store
