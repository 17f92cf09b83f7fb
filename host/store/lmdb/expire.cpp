#include "store/lmdb/expire.h"

#include <algorithm>
#include <string>
#include <vector>

#include "store/change_codec.h"
#include "store/lmdb/answers.h"
#include "store/lmdb/failures.h"
#include "store/lmdb/policies.h"
#include "store/lmdb/reviews.h"
#include "store/lmdb/runs.h"
#include "store/webhook_codec.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kMostPassedOver = 4096;  // entries examined but kept, per call

// The places of one kind that are too old, tenant by tenant, at most `most`. `keep` may spare one.
template <class IsKept>
std::vector<RunKey> oldest(const Txn& txn, const Table& table, std::int64_t before_ms, const Retention& retention, std::size_t most,
                           IsKept is_kept) {
  std::vector<RunKey> found;
  if (before_ms == kBeginningMs) return found;
  std::size_t passed_over = 0;
  Cursor cursor(txn, table.handle);
  bool more = cursor.at_or_after(KeyBytes().u32(retention.tenant.value_or(0)));
  while (more && found.size() < most && passed_over < kMostPassedOver) {
    const RunKey place{tenant_of(cursor.key()), record_key_of(cursor.key())};
    if (retention.tenant && place.tenant != *retention.tenant) break;
    if (place.key.time_ms >= before_ms) {
      more = cursor.at_or_after(KeyBytes().u32(place.tenant + 1));  // the tenant's other entries are younger
      continue;
    }
    if (is_kept(place, cursor.value())) {
      ++passed_over;
    } else {
      found.push_back(place);
    }
    more = cursor.next();
  }
  return found;
}

// The answers that are too old.
std::vector<std::string> old_answers(const WriteBatch& batch, std::size_t most) {
  std::vector<std::string> found;
  const std::uint32_t kept_from = answers_kept_from_day(batch.times);
  Cursor cursor(batch.txn, batch.tables.idempotency.handle);
  for (bool more = cursor.first(); more && found.size() < most; more = cursor.next()) {
    if (read_be(cursor.key(), 0, 4) >= kept_from) break;
    found.emplace_back(cursor.key());
  }
  return found;
}

// A tenant's answers from before the time up to which its runs are deleted. Includes answers that cannot be read.
std::vector<std::string> answers_of(const WriteBatch& batch, model::TenantId tenant, std::int64_t before_ms, std::size_t most) {
  std::vector<std::string> found;
  if (before_ms == kBeginningMs) return found;
  Cursor cursor(batch.txn, batch.tables.idempotency.handle);
  bool more = cursor.at_or_after(KeyBytes().u32(0).u32(tenant));
  while (more && found.size() < most) {
    const std::string_view key = cursor.key();
    const auto day = static_cast<std::uint32_t>(read_be(key, 0, 4));
    const auto of = static_cast<model::TenantId>(read_be(key, 4, 4));
    if (of != tenant) {
      more = cursor.at_or_after(KeyBytes().u32(of < tenant ? day : day + 1).u32(tenant));
      continue;
    }
    if (is_answer_before(key, cursor.value(), before_ms)) found.emplace_back(key);
    more = cursor.next();
  }
  return found;
}

void expire_runs(WriteBatch& batch, const Retention& retention, std::size_t most, Expired& gone) {
  const auto keep = [&](const RunKey& place, std::string_view) {
    return !retention.open_runs_too && batch.txn.get(batch.tables.open_runs.handle, place_key(place.tenant, place.key));
  };
  for (const RunKey& place : oldest(batch.txn, batch.tables.runs, retention.runs_before_ms, retention, most, keep)) {
    const ErasedRun erased = erase_run(batch, place);
    gone.runs += erased.was_there ? 1 : 0;
    gone.events += erased.events;
    if (!retention.tenant) continue;
    for (const model::RecordKey& failure : erased.failures)
      gone.failures += erase_failure(batch, place.tenant, failure, Removal::taken_back) ? 1 : 0;
  }
}

std::uint64_t expire_failures(WriteBatch& batch, const Retention& retention, std::size_t most) {
  std::uint64_t gone = 0;
  const auto none = [](const RunKey&, std::string_view) { return false; };
  for (const Table* table : {&batch.tables.failures, &batch.tables.shadow_failures}) {
    for (const RunKey& place : oldest(batch.txn, *table, retention.failures_before_ms, retention, most - gone, none)) {
      gone += erase_failure(batch, place.tenant, place.key, retention.tenant ? Removal::taken_back : Removal::expired) ? 1 : 0;
    }
  }
  return gone;
}

// Changes and policies have the time that their sender gave, which may be long past on receipt: they expire only when both times are too
// old. A purge goes by the given time alone. An unreadable record is of no use.
template <class Record>
bool received_since(const RunKey& place, std::string_view value, std::int64_t before_ms,
                    Record (*decode_head)(std::string_view, std::string_view)) {
  try {
    return decode_head(place_key(place.tenant, place.key), value).received_ms >= before_ms;
  } catch (const BadValue&) {
    return false;
  }
}

std::uint64_t expire_changes(WriteBatch& batch, const Retention& retention, std::size_t most) {
  std::uint64_t gone = 0;
  const std::int64_t before_ms = retention.changes_before_ms;
  const auto keep = [&](const RunKey& place, std::string_view value) {
    return !retention.tenant && received_since(place, value, before_ms, decode_change_head);
  };
  for (const RunKey& place : oldest(batch.txn, batch.tables.changes, before_ms, retention, most, keep)) {
    gone += erase_change(batch, place.tenant, place.key) ? 1 : 0;
  }
  return gone;
}

bool is_in_force(const WriteBatch& batch, const RunKey& place) {
  try {
    const auto policy = read_policy(batch.txn, batch.tables, place.tenant, place.key);
    const auto in_force = policy ? policy_at(batch.txn, batch.tables, place.tenant, policy->policy, batch.times.now_ms) : std::nullopt;
    return in_force && in_force->key == place.key;
  } catch (const StoreError&) {
    return false;  // it is too old, and of no use
  }
}

std::uint64_t expire_policies(WriteBatch& batch, const Retention& retention, std::size_t most) {
  std::uint64_t gone = 0;
  // A revision stays while it is in force, however old, unless this is a purge of its tenant.
  const std::int64_t before_ms = retention.policies_before_ms;
  const auto keep = [&](const RunKey& place, std::string_view value) {
    return !retention.tenant && (received_since(place, value, before_ms, decode_policy_head) || is_in_force(batch, place));
  };
  for (const RunKey& place : oldest(batch.txn, batch.tables.policies, before_ms, retention, most, keep)) {
    gone += erase_policy(batch, place.tenant, place.key) ? 1 : 0;
  }
  return gone;
}

std::uint64_t expire_crash_marks(WriteBatch& batch, const Retention& retention, std::size_t most) {
  std::uint64_t gone = 0;
  const auto none = [](const RunKey&, std::string_view) { return false; };
  for (const RunKey& place : oldest(batch.txn, batch.tables.crash_marks, retention.runs_before_ms, retention, most, none)) {
    gone += batch.txn.erase(batch.tables.crash_marks.handle, place_key(place.tenant, place.key)) ? 1 : 0;
  }
  return gone;
}

// Keys of the deliveries to delete: all of a removed endpoint, otherwise those that are too old. Deliveries that wait for an active
// endpoint stay until they are settled; a purge deletes them, too.
std::vector<std::string> old_deliveries(const WriteBatch& batch, const Retention& retention, std::size_t most) {
  std::vector<std::string> found;
  const Table& table = batch.tables.deliveries;
  Cursor cursor(batch.txn, table.handle);
  std::size_t passed_over = 0;
  bool more = cursor.at_or_after(KeyBytes().u32(retention.tenant.value_or(0)));
  while (more && found.size() < most && passed_over < kMostPassedOver) {
    const std::string key(cursor.key());
    const model::TenantId tenant = tenant_of(key);
    if (retention.tenant && tenant != *retention.tenant) break;
    const std::uint64_t endpoint_seq = read_be(key, 4, 8);
    const bool is_there = batch.txn.get(batch.tables.endpoints.handle, endpoint_key(tenant, endpoint_seq)).has_value();
    if (is_there && read_time(key, kEndpointKeyBytes) >= retention.deliveries_before_ms) {
      more = cursor.at_or_after(endpoint_key(tenant, endpoint_seq + 1));  // this endpoint's other deliveries are younger
      continue;
    }
    bool waits = false;
    try {
      const auto endpoint = is_there ? read_endpoint(batch.txn, batch.tables, tenant, endpoint_seq) : std::nullopt;
      const bool active = endpoint && endpoint->disabled == model::Endpoint::Disabled::no;
      waits = active && decode_delivery_head(key, cursor.value()).state == model::DeliveryState::pending;
    } catch (const std::runtime_error&) {  // an unreadable delivery is of no use
    }
    if (waits && !retention.tenant) {
      ++passed_over;
    } else {
      found.push_back(key);
    }
    more = cursor.next();
  }
  return found;
}

// Also deletes unreadable deliveries. What they leave in the outbox leads nowhere, and is skipped there.
std::uint64_t expire_deliveries(WriteBatch& batch, const Retention& retention, std::size_t most) {
  const MessageWriter::Rules none{[] { return std::uint64_t{0}; }};
  MessageWriter messages(batch.txn, batch.tables, none, batch.times.now_ms);
  const auto old = old_deliveries(batch, retention, most);
  for (const std::string& key : old) {
    const model::TenantId tenant = tenant_of(key);
    const std::uint64_t endpoint_seq = read_be(key, 4, 8);
    try {
      const auto delivery = read_delivery(batch.txn, batch.tables, key, BodyToo::no);
      model::Endpoint* const endpoint = messages.endpoint(tenant, endpoint_seq);
      if (endpoint != nullptr) {
        messages.erase(tenant, *endpoint, *delivery);
        continue;
      }
      if (delivery->state == model::DeliveryState::pending) {
        batch.txn.erase(batch.tables.outbox.handle, outbox_key(tenant, endpoint_seq, *delivery));
      }
    } catch (const StoreError&) {
    }
    batch.txn.erase(batch.tables.deliveries.handle, key);
  }
  messages.flush();
  return old.size();
}

}  // namespace

Expired expire_in(WriteBatch& batch, const Retention& retention, std::size_t most) {
  Expired gone;
  const auto left = [&] { return most - std::min(most, static_cast<std::size_t>(gone.total())); };
  gone.failures = expire_failures(batch, retention, left());
  if (left() > 0) expire_runs(batch, retention, left(), gone);
  if (left() > 0) gone.changes = expire_changes(batch, retention, left());
  if (left() > 0) gone.policies = expire_policies(batch, retention, left());
  if (left() > 0) {
    const auto old = retention.tenant ? answers_of(batch, *retention.tenant, retention.runs_before_ms, left()) : old_answers(batch, left());
    for (const std::string& key : old) {
      gone.idempotency_keys += batch.txn.erase(batch.tables.idempotency.handle, key) ? 1 : 0;
    }
  }
  if (left() > 0) gone.crash_marks = expire_crash_marks(batch, retention, left());
  if (left() > 0) {
    flush(batch);  // a group without failures is deleted with the last entry of its history
    gone.triage = expire_triage(batch, retention, left());
  }
  if (left() > 0) gone.deliveries = expire_deliveries(batch, retention, left());
  if (left() > 0) gone.reviews = expire_reviews(batch, retention, left());
  gone.more = left() == 0;
  return gone;
}

}  // namespace runwarden::store
