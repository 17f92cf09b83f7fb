#include "store/lmdb/group_store.h"

#include <algorithm>
#include <utility>

#include "store/change_codec.h"
#include "store/lmdb/commit_log.h"
#include "store/lmdb/dimensions.h"
#include "store/lmdb/groups.h"
#include "store/lmdb/lists.h"
#include "store/lmdb/policies.h"
#include "store/lmdb/runs.h"
#include "store/lmdb/series.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kEntriesATransaction = 4096;
constexpr std::size_t kRowKeyBytes = 4 + sizeof(Half);

// Where a subject's failures are counted: a group's with the fingerprints, others in series of their own.
SeriesRef failures_of(const Tables& tables, model::TenantId tenant, const Subject& subject) {
  if (subject.kind == Subject::Kind::cluster) return {tables.tally, tenant, subject.cluster, kFinestOfFailures};
  return {tables.series, tenant, failures_series(subject_half(subject)), kFinestOfFailures};
}

// Counts the failures of a detector or of all one by one.
std::uint64_t walk_failures(const Txn& txn, const Tables& tables, model::TenantId tenant, const Subject& subject, const Span& span) {
  const KeyBytes end = KeyBytes().u32(tenant).time(span.before_ms);
  std::uint64_t count = 0;
  Cursor cursor(txn, tables.failures.handle);
  bool more = span.from_ms < span.before_ms && cursor.at_or_after(KeyBytes().u32(tenant).time(span.from_ms));
  for (; more && cursor.key() < end.view(); more = cursor.next()) {
    try {
      const model::FailureRecord failure = decode_failure_head(cursor.key(), cursor.value());
      const bool is_of_subject = subject.kind == Subject::Kind::any || failure.detector_key == subject.detector_key;
      if (is_of_subject && !failure.is_false_alarm()) ++count;
    } catch (const BadValue&) {
      continue;  // lists report it
    }
  }
  return count;
}

std::uint64_t count_failures(const Txn& txn, const Tables& tables, model::TenantId tenant, const Subject& subject, const Span& span) {
  if (subject.kind == Subject::Kind::cluster) return count_window(txn, tables, {tenant, subject.cluster, span.from_ms, span.before_ms});
  const SpanParts parts = parts_of(span, kFinestOfFailures);
  return walk_failures(txn, tables, tenant, subject, parts.before) + sum_series(txn, failures_of(tables, tenant, subject), parts.whole) +
         walk_failures(txn, tables, tenant, subject, parts.after);
}

// About how much of an older store has been counted: failures are the first half of the work.
double built_part(const Txn& txn, const Tables& tables, const GroupBuild& build) {
  const bool failures = build.stage == GroupBuild::Stage::failures;
  Cursor cursor(txn, failures ? tables.failures.handle : tables.runs.handle);
  double part = 0;
  if (cursor.first()) {
    const auto first = static_cast<double>(record_key_of(cursor.key()).time_ms);
    const auto at = static_cast<double>(build.at.key.time_ms);
    cursor.last();
    const auto last = static_cast<double>(record_key_of(cursor.key()).time_ms);
    if (last > first) part = std::clamp((at - first) / (last - first), 0.0, 1.0);
  }
  return (failures ? 0 : 0.5) + part / 2;
}

}  // namespace

template <class Use>
auto LmdbGroupStore::reading(Use use) -> decltype(use(std::declval<const Txn&>())) {
  std::optional<decltype(use(std::declval<const Txn&>()))> result;
  parts_.reading([&] {
    const ReadTxn txn = parts_.env.read();
    result.emplace(use(static_cast<const Txn&>(txn)));
  });
  return std::move(*result);
}

GroupTotals LmdbGroupStore::group_totals(model::TenantId tenant) {
  return reading([&](const Txn& txn) {
    const TenantGroups groups = read_tenant_groups(txn, parts_.tables, tenant);
    GroupTotals totals{groups.clusters, groups.left_out, std::nullopt};
    const GroupBuild build = read_group_build(txn, parts_.tables);
    if (build.stage != GroupBuild::Stage::done) totals.building = built_part(txn, parts_.tables, build);
    return totals;
  });
}

void LmdbGroupStore::visit_clusters(model::TenantId tenant, const std::function<void(const model::Cluster&)>& visit) {
  const Table& table = parts_.tables.clusters;
  std::string at(KeyBytes().u32(tenant).view());
  const std::string prefix = at;
  for (bool more = true; more;) {
    more = reading([&](const Txn& txn) {
      Cursor cursor(txn, table.handle);
      bool found = cursor.at_or_after(at);
      for (std::size_t seen = 0; found && cursor.key().starts_with(prefix); found = cursor.next()) {
        if (seen++ == kEntriesATransaction) {
          at = cursor.key();
          return true;
        }
        if (cursor.key().size() != kRowKeyBytes) continue;  // the tenant's own row
        try {
          visit(decoded(table, cursor.key(), [&] { return decode_cluster(cursor.key(), cursor.value()); }).cluster);
        } catch (const StoreError& bad) {
          if (parts_.on_unreadable) parts_.on_unreadable(bad.what());
        }
      }
      return false;
    });
  }
}

std::optional<model::Cluster> LmdbGroupStore::find_cluster(model::TenantId tenant, std::string_view cluster_id) {
  const auto spelled = model::parse_cluster_id(cluster_id);
  if (!spelled) return std::nullopt;
  return reading([&](const Txn& txn) -> std::optional<model::Cluster> {
    const KeyBytes prefix = KeyBytes().u32(tenant).bytes(*spelled);
    Cursor cursor(txn, parts_.tables.clusters.handle);
    if (!cursor.at_or_after(prefix) || !cursor.key().starts_with(prefix.view())) return std::nullopt;
    return decoded(parts_.tables.clusters, cursor.key(), [&] { return decode_cluster(cursor.key(), cursor.value()); }).cluster;
  });
}

std::vector<model::FailureRecord> LmdbGroupStore::first_failures(model::TenantId tenant, const model::ClusterKey& cluster,
                                                                 std::size_t most) {
  return reading([&](const Txn& txn) {
    std::vector<model::FailureRecord> failures;
    const KeyBytes prefix = cluster_row_key(tenant, cluster);
    Cursor cursor(txn, parts_.tables.fingerprints.handle);
    bool more = cursor.at_or_after(prefix);
    for (; more && failures.size() < most && cursor.key().starts_with(prefix.view()); more = cursor.next()) {
      const KeyBytes key = KeyBytes().u32(tenant).bytes(cursor.key().substr(kRowKeyBytes));
      const auto value = txn.get(parts_.tables.failures.handle, key);
      if (!value) continue;
      try {
        failures.push_back(decoded(parts_.tables.failures, key, [&] { return decode_failure(key, *value); }));
      } catch (const StoreError& bad) {
        if (parts_.on_unreadable) parts_.on_unreadable(bad.what());
      }
    }
    return failures;
  });
}

std::uint64_t LmdbGroupStore::count_failures_of(model::TenantId tenant, const Subject& subject, const Span& span) {
  return reading([&](const Txn& txn) { return count_failures(txn, parts_.tables, tenant, subject, span); });
}

std::uint64_t LmdbGroupStore::count_affected(model::TenantId tenant, const Subject& subject, const Span& span) {
  return reading([&](const Txn& txn) {
    return sum_series(txn, {parts_.tables.series, tenant, affected_series(subject_half(subject)), kFinestOfRuns}, whole_entries(span));
  });
}

std::uint64_t LmdbGroupStore::count_all_runs(model::TenantId tenant, const Span& span) {
  return reading([&](const Txn& txn) { return count_window(txn, parts_.tables, {tenant, kRunSeries, span.from_ms, span.before_ms}); });
}

std::vector<DimensionRow> LmdbGroupStore::dimension_values(model::TenantId tenant, const std::optional<Span>& span, std::size_t most) {
  return reading([&](const Txn& txn) { return read_dimensions(txn, parts_.tables, tenant, span, most); });
}

std::uint64_t LmdbGroupStore::count_runs_with(model::TenantId tenant, const model::Dimension& value, const Span& span) {
  return reading([&](const Txn& txn) {
    return sum_series(txn, {parts_.tables.series, tenant, runs_series(value_half(value)), kFinestOfRuns}, whole_entries(span));
  });
}

std::uint64_t LmdbGroupStore::count_affected_with(model::TenantId tenant, const Subject& subject, const model::Dimension& value,
                                                  const Span& span) {
  const SeriesRef ref{parts_.tables.series, tenant, affected_series(subject_half(subject)), kFinestOfRuns, value_key(value_half(value))};
  return reading([&](const Txn& txn) { return sum_series(txn, ref, whole_entries(span)); });
}

std::vector<std::uint64_t> LmdbGroupStore::most_affected_with(model::TenantId tenant, std::span<const model::ClusterKey> clusters,
                                                              const model::Dimension& value, const Span& span) {
  std::vector<Half> series;
  series.reserve(clusters.size());
  for (const model::ClusterKey& cluster : clusters) series.push_back(affected_series(subject_half(Subject::of_cluster(cluster))));
  const SeriesRef ref{parts_.tables.series, tenant, {}, kFinestOfRuns, value_key(value_half(value))};
  return reading([&](const Txn& txn) { return sums_of_coarsest(txn, ref, series, whole_entries(span)); });
}

std::optional<model::RecordKey> LmdbGroupStore::first_run_with(model::TenantId tenant, const model::Dimension& value) {
  return reading([&](const Txn& txn) { return store::first_run_with(txn, parts_.tables, tenant, value); });
}

std::optional<AffectedRuns> LmdbGroupStore::runs_just_before(model::TenantId tenant, const model::RecordKey& run, std::size_t most) {
  return reading([&](const Txn& txn) -> std::optional<AffectedRuns> {
    AffectedRuns earlier;
    const Table& table = parts_.tables.runs;
    const KeyBytes end = place_key(tenant, run);
    Cursor cursor(txn, table.handle);
    bool more = cursor.at_or_after(KeyBytes().u32(tenant).time(run.time_ms >> kFinestOfRuns << kFinestOfRuns));
    for (; more && cursor.key() < end.view(); more = cursor.next()) {
      if (++earlier.runs > most) return std::nullopt;
      try {
        const StoredRun stored = decoded(table, cursor.key(), [&] { return decode_run_head(cursor.key(), cursor.value()); });
        const Affected affected = affected_by(txn, parts_.tables, tenant, stored);
        earlier.affected += affected.clusters.empty() ? 0 : 1;
        for (const Half& cluster : affected.clusters) ++earlier.by_cluster[cluster];
        for (const std::string& detector : affected.detectors) ++earlier.by_detector[detector];
      } catch (const StoreError& bad) {
        if (parts_.on_unreadable) parts_.on_unreadable(bad.what());
      }
    }
    return earlier;
  });
}

std::vector<std::uint64_t> LmdbGroupStore::failure_buckets(model::TenantId tenant, const Subject& subject, const Span& span,
                                                           const TimeBuckets& buckets) {
  return reading([&](const Txn& txn) {
    const auto count = [&](const Span& end) { return count_failures(txn, parts_.tables, tenant, subject, end); };
    return bucket_sums(txn, failures_of(parts_.tables, tenant, subject), {span, buckets, count});
  });
}

std::vector<std::uint64_t> LmdbGroupStore::run_buckets(model::TenantId tenant, const Span& span, const TimeBuckets& buckets) {
  return reading([&](const Txn& txn) {
    const auto count = [&](const Span& end) { return count_window(txn, parts_.tables, {tenant, kRunSeries, end.from_ms, end.before_ms}); };
    return bucket_sums(txn, {parts_.tables.tally, tenant, kRunSeries, kFinestOfFailures}, {span, buckets, count});
  });
}

std::vector<model::TriageEntry> LmdbGroupStore::triage_history(model::TenantId tenant, const model::ClusterKey& cluster,
                                                               const Range& range) {
  return reading([&](const Txn& txn) {
    std::vector<model::TriageEntry> entries;
    const Table& table = parts_.tables.triage;
    const KeyBytes prefix = cluster_row_key(tenant, cluster);
    const KeyBytes beyond = range.after ? KeyBytes(prefix).time(range.after->time_ms).u64(range.after->seq)
                                        : KeyBytes(prefix).u64(~std::uint64_t{0}).u64(~std::uint64_t{0});
    Cursor cursor(txn, table.handle);
    bool more = cursor.before(beyond);
    for (; more && entries.size() < range.limit && cursor.key().starts_with(prefix.view()); more = cursor.previous()) {
      try {
        entries.push_back(decoded(table, cursor.key(), [&] { return decode_triage(cursor.key(), cursor.value()); }));
      } catch (const StoreError& bad) {
        if (parts_.on_unreadable) parts_.on_unreadable(bad.what());
      }
    }
    return entries;
  });
}

Page<model::RunRecord> LmdbGroupStore::cluster_runs(model::TenantId tenant, const model::ClusterKey& cluster, const RunQuery& query) {
  Page<model::RunRecord> page;
  parts_.reading(
      [&] { page = list_cluster_runs({parts_.env, parts_.tables, parts_.on_unreadable}, {tenant, cluster}, query); });
  return page;
}

ChangeMarks LmdbGroupStore::change_marks(model::TenantId tenant, const Span& span, std::size_t most) {
  return reading([&](const Txn& txn) {
    ChangeMarks marks;
    const Table& table = parts_.tables.changes;
    const KeyBytes end = KeyBytes().u32(tenant).time(span.before_ms).u64(0);
    Cursor cursor(txn, table.handle);
    for (bool more = cursor.before(end); more && tenant_of(cursor.key()) == tenant; more = cursor.previous()) {
      const model::RecordKey at = record_key_of(cursor.key());
      if (at.time_ms < span.from_ms) break;
      if (marks.changes.size() == most) {
        ++marks.left_out;
        continue;
      }
      try {
        if (auto change = read_change(txn, parts_.tables, tenant, at)) marks.changes.push_back(std::move(*change));
      } catch (const StoreError& bad) {
        if (parts_.on_unreadable) parts_.on_unreadable(bad.what());
      }
    }
    std::reverse(marks.changes.begin(), marks.changes.end());
    return marks;
  });
}

std::uint64_t LmdbGroupStore::last_commit(model::TenantId tenant) {
  return reading([&](const Txn& txn) { return last_item(txn, parts_.tables, tenant); });
}

TailPage LmdbGroupStore::tail(model::TenantId tenant, std::uint64_t after, std::size_t most) {
  return reading([&](const Txn& txn) { return items_after(txn, parts_.tables, tenant, after, most); });
}

}  // namespace runwarden::store
