#include "store/lmdb/lists.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "store/change_codec.h"
#include "store/lmdb/policies.h"
#include "store/lmdb/reviews.h"
#include "store/lmdb/runs.h"
#include "store/lmdb/time_bucket_counts.h"
#include "store/opinion_codec.h"
#include "store/page_filling.h"
#include "store/record_codec.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kEntriesATransaction = 4096;

// The places of the failures that the run's record names, newest first, within the range. None if the run does not exist.
std::vector<model::RecordKey> failures_of_run(const Txn& txn, const Tables& tables, model::TenantId tenant, const FailureQuery& query) {
  const auto place = find_run_place(txn, tables, tenant, query.run_id);
  if (!place) return {};
  auto stored = read_run_head(txn, tables, tenant, *place);
  if (!stored) return {};
  const Range& range = query.range;
  std::erase_if(stored->failures, [&](const model::RecordKey& key) {
    return key.time_ms < range.since_ms || key.time_ms >= range.before_ms || (range.after && key >= *range.after);
  });
  std::sort(stored->failures.begin(), stored->failures.end(), std::greater<>());
  return std::move(stored->failures);
}

// Walks the entries of a table whose keys are a prefix, a time and a number, newest first, within the range. `visit` gets the transaction,
// the RecordKey, the entry's key and its value, and returns whether to go on.
template <class Visit>
void walk_back(const Listing& from, const Table& table, const KeyBytes& prefix, const Range& range, Visit visit) {
  const std::size_t time_at = prefix.view().size();
  const KeyBytes end = range.before_ms == kEndMs ? KeyBytes(prefix).u64(~std::uint64_t{0}).u64(~std::uint64_t{0})
                                                 : KeyBytes(prefix).time(range.before_ms).u64(0);
  std::string beyond(end.view());
  if (range.after) beyond = std::min(beyond, std::string(KeyBytes(prefix).time(range.after->time_ms).u64(range.after->seq).view()));
  while (true) {
    const ReadTxn txn = from.env.read();
    Cursor cursor(txn, table.handle);
    std::size_t seen = 0;
    bool more = cursor.before(beyond);
    for (; more && seen < kEntriesATransaction; more = cursor.previous(), ++seen) {
      if (!cursor.key().starts_with(prefix.view())) return;
      const model::RecordKey key{read_time(cursor.key(), time_at), read_be(cursor.key(), time_at + 8, 8)};
      if (key.time_ms < range.since_ms) return;
      beyond = cursor.key();
      try {
        if (!visit(static_cast<const Txn&>(txn), key, cursor.key(), cursor.value())) return;
      } catch (const StoreError& bad) {
        // One unreadable record must not hide the others.
        if (from.on_unreadable) from.on_unreadable(bad.what());
      }
    }
    if (!more) return;
  }
}

// Walks the failures that the run's record names, newest first, within the range. `visit` gets the transaction, each key and its value.
template <class Visit>
void visit_failures_of_run(const Listing& from, model::TenantId tenant, const FailureQuery& query, const Table& table, Visit visit) {
  const ReadTxn txn = from.env.read();
  for (const model::RecordKey& at : failures_of_run(txn, from.tables, tenant, query)) {
    const KeyBytes key = place_key(tenant, at);
    try {
      if (!visit(static_cast<const Txn&>(txn), key, txn.get(table.handle, key).value_or(std::string_view()))) return;
    } catch (const StoreError& bad) {
      if (from.on_unreadable) from.on_unreadable(bad.what());
    }
  }
}

bool fits(const Txn& txn, const Tables& tables, model::TenantId tenant, const RunQuery& query, const StoredRun& head) {
  if (!fits(query, head.run)) return false;
  if (!asks_for_one_failure(query, head.run)) return true;
  FailureQuery failures;
  failures.detector = query.detector;
  failures.min_score = *query.min_score;
  return std::any_of(head.failures.begin(), head.failures.end(), [&](const model::RecordKey& at) {
    const KeyBytes key = place_key(tenant, at);
    const auto value = txn.get(tables.failures.handle, key);
    return value && fits(failures, decoded(tables.failures, key, [&] { return decode_failure_head(key, *value); }));
  });
}

bool is_in_cluster(const Txn& txn, const Tables& tables, const ClusterRef& of, const model::RecordKey& failure) {
  const KeyBytes key = place_key(of.tenant, failure);
  const auto value = txn.get(tables.failures.handle, key);
  return value && half_digest(decoded(tables.failures, key, [&] { return decode_failure_head(key, *value); }).fingerprint) == of.cluster;
}

}  // namespace

Page<model::RunRecord> list_runs(const Listing& from, model::TenantId tenant, const RunQuery& query) {
  const Tables& tables = from.tables;
  PageFilling<model::RunRecord> page(query.range);
  const bool only_open = query.state == model::RunState::open;
  const KeyBytes prefix = KeyBytes().u32(tenant);
  walk_back(from, only_open ? tables.open_runs : tables.runs, prefix, query.range,
            [&](const Txn& txn, const model::RecordKey&, std::string_view key, std::string_view value) {
              if (only_open) value = txn.get(tables.runs.handle, key).value_or(std::string_view());
              if (value.empty()) return true;
              StoredRun head = decoded(tables.runs, key, [&] { return decode_run_head(key, value, query.outlines); });
              if (!fits(txn, tables, tenant, query, head)) return true;
              model::RunRecord run;
              if (query.outlines == OutlineToo::yes) {
                run = std::move(head.run);
                run.json_bytes = outline_bytes(run);
              } else {
                run = sized_head(txn, tables, key, value, std::move(head));
              }
              const std::uint64_t bytes = run.json_bytes;
              if (!page.has_room(bytes)) return false;
              page.add(std::move(run), bytes);
              return true;
            });
  return page.take();
}

Page<model::RunRecord> list_cluster_runs(const Listing& from, const ClusterRef& of, const RunQuery& query) {
  const Tables& tables = from.tables;
  Page<model::RunRecord> page;
  std::uint64_t bytes = 0;
  model::RecordKey last;  // failure of the run that was added last
  Range failures = query.range;
  failures.since_ms = kBeginningMs;  // the query's since and until mean the runs' receipt
  failures.before_ms = kEndMs;
  walk_back(from, tables.fingerprints, KeyBytes().u32(of.tenant).bytes(view(of.cluster)), failures,
            [&](const Txn& txn, const model::RecordKey& at, std::string_view, std::string_view) {
              const KeyBytes failure_key = place_key(of.tenant, at);
              const auto failure = txn.get(tables.failures.handle, failure_key);
              if (!failure) return true;
              const auto place = decoded(tables.failures, failure_key, [&] { return decode_failure_head(failure_key, *failure); }).run;
              if (place.time_ms < query.range.since_ms || place.time_ms >= query.range.before_ms) return true;
              const KeyBytes key = place_key(of.tenant, place);
              const auto value = txn.get(tables.runs.handle, key);
              if (!value) return true;
              StoredRun head = decoded(tables.runs, key, [&] { return decode_run_head(key, *value, query.outlines); });
              const auto is_newer = [&](const model::RecordKey& other) { return other > at && is_in_cluster(txn, tables, of, other); };
              if (!fits(txn, tables, of.tenant, query, head) || std::any_of(head.failures.begin(), head.failures.end(), is_newer))
                return true;
              model::RunRecord run =
                  query.outlines == OutlineToo::yes ? std::move(head.run) : sized_head(txn, tables, key, *value, std::move(head));
              if (query.outlines == OutlineToo::yes) run.json_bytes = outline_bytes(run);
              const bool full = page.items.size() >= query.range.limit || bytes + run.json_bytes > query.range.max_bytes;
              if (!page.items.empty() && full) {
                page.next = last;
                return false;
              }
              bytes += run.json_bytes;
              page.items.push_back(std::move(run));
              last = at;
              return true;
            });
  return page;
}

Page<model::FailureRecord> list_failures(const Listing& from, model::TenantId tenant, const FailureQuery& query) {
  const Tables& tables = from.tables;
  PageFilling<model::FailureRecord> page(query.range);
  const Table& table = query.shadow ? tables.shadow_failures : tables.failures;
  const auto consider = [&](const Txn& txn, const KeyBytes& key, std::string_view value) {
    if (value.empty()) return true;
    if (!fits(query, decoded(table, key, [&] { return decode_failure_head(key, value); }))) return true;
    model::FailureRecord failure = decoded(table, key, [&] { return decode_failure(key, value); });
    failure.shadow = query.shadow;
    read_review(txn, tables, tenant, failure);
    const std::uint64_t bytes = failure.json.size() + failure.review.size() + 1;
    if (!page.has_room(bytes)) return false;
    page.add(std::move(failure), bytes);
    return true;
  };
  if (!query.run_id.empty()) {
    visit_failures_of_run(from, tenant, query, table, consider);
    return page.take();
  }
  const bool by_fingerprint = !query.fingerprint.empty() && !query.shadow;
  KeyBytes prefix = KeyBytes().u32(tenant);
  if (by_fingerprint) prefix.bytes(view(half_digest(query.fingerprint)));
  walk_back(from, by_fingerprint ? tables.fingerprints : table, prefix, query.range,
            [&](const Txn& txn, const model::RecordKey& at, std::string_view, std::string_view value) {
              const KeyBytes key = place_key(tenant, at);
              return consider(txn, key, by_fingerprint ? txn.get(table.handle, key).value_or(std::string_view()) : value);
            });
  return page.take();
}

Page<model::ChangeRecord> list_changes(const Listing& from, model::TenantId tenant, const ChangeQuery& query) {
  const Tables& tables = from.tables;
  PageFilling<model::ChangeRecord> page(query.range);
  walk_back(from, tables.changes, KeyBytes().u32(tenant), query.range,
            [&](const Txn& txn, const model::RecordKey& at, std::string_view key, std::string_view value) {
              const std::string kind = decoded(tables.changes, key, [&] { return decode_change_head(key, value); }).kind;
              if (!query.kind.empty() && kind != query.kind) return true;
              auto change = read_change(txn, tables, tenant, at);
              const std::uint64_t bytes =
                  kOwnChangeBytes + change->document.size() + (change->policy ? change->policy->document.size() : 0);
              if (!page.has_room(bytes)) return false;
              page.add(std::move(*change), bytes);
              return true;
            });
  return page.take();
}

Page<model::PolicyRecord> list_policies(const Listing& from, model::TenantId tenant, const PolicyQuery& query) {
  const Tables& tables = from.tables;
  PageFilling<model::PolicyRecord> page(query.range);
  const bool of_one = !query.policy.empty();
  const KeyBytes prefix = of_one ? policy_times_prefix(tenant, query.policy) : KeyBytes().u32(tenant);
  walk_back(from, of_one ? tables.policy_index : tables.policies, prefix, query.range,
            [&](const Txn& txn, const model::RecordKey& at, std::string_view, std::string_view) {
              auto policy = read_policy(txn, tables, tenant, at);
              if (!policy) return true;
              const std::uint64_t bytes = kOwnChangeBytes + policy->document.size();
              if (!page.has_room(bytes)) return false;
              page.add(std::move(*policy), bytes);
              return true;
            });
  return page.take();
}

Page<model::Opinion> list_candidates(const Listing& from, model::TenantId tenant, const CandidateQuery& query) {
  const Tables& tables = from.tables;
  PageFilling<model::Opinion> page(query.range);
  walk_back(from, tables.opinions, KeyBytes().u32(tenant), query.range,
            [&](const Txn&, const model::RecordKey&, std::string_view key, std::string_view value) {
              if (!fits(query, decoded(tables.opinions, key, [&] { return decode_opinion_head(key, value); }))) return true;
              model::Opinion opinion = decoded(tables.opinions, key, [&] { return decode_opinion(key, value); });
              const std::uint64_t bytes = stored_bytes(opinion);
              if (!page.has_room(bytes)) return false;
              page.add(std::move(opinion), bytes);
              return true;
            });
  return page.take();
}

}  // namespace runwarden::store
