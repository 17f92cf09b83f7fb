#include "store/postgres/group_store.h"

#include <algorithm>
#include <utility>

#include "store/change_codec.h"
#include "store/group_codec.h"
#include "store/page_filling.h"
#include "store/postgres/group_rows.h"
#include "store/postgres/run_heads.h"
#include "store/record_codec.h"

namespace runwarden::store::postgres {
namespace {

constexpr std::int64_t kClustersAtOnce = 4096;
constexpr std::int64_t kRunsAtOnce = 64;
constexpr std::int64_t kLogRowsAtOnce = 64;

constexpr const char* kClusters = "SELECT half, body FROM runwarden.cluster WHERE tenant = $1 AND half > $2 ORDER BY half LIMIT $3";
constexpr const char* kFindCluster = "SELECT half, body FROM runwarden.cluster WHERE tenant = $1 AND half >= $2 ORDER BY half LIMIT 1";
constexpr const char* kFirstFailures = R"sql(
SELECT time_ms, seq, body FROM runwarden.failure WHERE tenant = $1 AND fingerprint = $2 AND NOT shadow ORDER BY time_ms, seq LIMIT $3)sql";
constexpr const char* kHistory = R"sql(
SELECT time_ms, seq, body FROM runwarden.triage WHERE tenant = $1 AND half = $2 AND (time_ms, seq) < ($3, $4)
ORDER BY time_ms DESC, seq DESC LIMIT $5)sql";
constexpr const char* kMarks = R"sql(
SELECT c.time_ms, c.seq, c.body, p.body FROM runwarden.change c
LEFT JOIN runwarden.policy p ON c.kind = 'policy' AND p.tenant = c.tenant AND p.time_ms = c.time_ms AND p.seq = c.seq
WHERE c.tenant = $1 AND c.time_ms >= $2 AND c.time_ms < $3 ORDER BY c.time_ms DESC, c.seq DESC LIMIT $4)sql";
constexpr const char* kCountMarks = "SELECT count(*) FROM runwarden.change WHERE tenant = $1 AND time_ms >= $2 AND time_ms < $3";
constexpr const char* kLast = "SELECT coalesce((SELECT last FROM runwarden.commit_last WHERE tenant = $1), 0)";
// From the row that holds the item after $2: the last row that begins at or before that item.
constexpr const char* kLogFrom = R"sql(
SELECT first, body FROM runwarden.commit_log WHERE tenant = $1
  AND first >= coalesce((SELECT max(first) FROM runwarden.commit_log WHERE tenant = $1 AND first <= $2 + 1), $2 + 1) ORDER BY first LIMIT $3)sql";

// A group's failures that are its newest in their run: $1 tenant, $2 group, $3 and $4 the range of the run's time of receipt, $5 and $6
// where to continue, $7 how many.
const std::string kClusterRuns = "SELECT f.time_ms, f.seq, " + head_columns() + R"sql(
FROM runwarden.failure f JOIN runwarden.run r ON r.tenant = f.tenant AND r.time_ms = f.run_time_ms AND r.seq = f.run_seq
WHERE f.tenant = $1 AND f.fingerprint = $2 AND NOT f.shadow AND f.run_time_ms >= $3 AND f.run_time_ms < $4 AND f.time_ms <= $5
  AND (f.time_ms, f.seq) < ($5, $6) AND NOT EXISTS (SELECT FROM runwarden.failure n WHERE n.tenant = f.tenant AND n.fingerprint = f.fingerprint
    AND NOT n.shadow AND n.run_time_ms = f.run_time_ms AND n.run_seq = f.run_seq AND (n.time_ms, n.seq) > (f.time_ms, f.seq))
  AND ($8 = '' OR EXISTS (SELECT FROM runwarden.failure o WHERE o.tenant = f.tenant AND o.run_time_ms = f.run_time_ms AND o.run_seq = f.run_seq
    AND NOT o.shadow AND o.detector = $8 AND o.score >= $9))
ORDER BY f.time_ms DESC, f.seq DESC LIMIT $7)sql";

constexpr model::RecordKey kBeyond{kEndMs, static_cast<std::uint64_t>(kEndMs)};

model::Cluster cluster_of(model::TenantId tenant, std::string_view half, std::string_view body) {
  const KeyBytes key = cluster_place(tenant, cluster_key_of(half));
  return decoded("cluster", key, [&] { return decode_cluster(key, body); }).cluster;
}

model::ChangeRecord change_of(model::TenantId tenant, const Rows& rows, std::size_t row) {
  const KeyBytes key = place_key(tenant, record_key(rows, row, 0));
  model::ChangeRecord change = decoded("change", key, [&] { return decode_change(key, rows.bytes(row, 2)); });
  if (!rows.is_null(row, 3)) change.policy = decoded("policy", key, [&] { return decode_policy(key, rows.bytes(row, 3)); });
  return change;
}

}  // namespace

void PostgresGroupStore::report(const std::string& text) const {
  if (on_unreadable_) on_unreadable_(text);
}

GroupTotals PostgresGroupStore::group_totals(model::TenantId tenant) {
  return pool_.read([&](Connection& connection) {
    const Rows rows = connection.query("SELECT clusters, left_out FROM runwarden.cluster_total WHERE tenant = $1",
                                       std::move(Params().i32(column(tenant))));
    if (rows.empty()) return GroupTotals();
    return GroupTotals{unsigned_at(rows, 0, 0), unsigned_at(rows, 0, 1), std::nullopt};
  });
}

void PostgresGroupStore::visit_clusters(model::TenantId tenant, const std::function<void(const model::Cluster&)>& visit) {
  std::string behind;
  for (bool more = true; more;) {
    const Rows rows = pool_.read([&](Connection& connection) {
      return connection.query(kClusters, std::move(Params().i32(column(tenant)).bytes(behind).i64(kClustersAtOnce)));
    });
    for (std::size_t row = 0; row < rows.size(); ++row) {
      behind = rows.bytes(row, 0);
      try {
        visit(cluster_of(tenant, rows.bytes(row, 0), rows.bytes(row, 1)));
      } catch (const StoreError& bad) {
        report(bad.what());
      }
    }
    more = rows.size() == static_cast<std::size_t>(kClustersAtOnce);
  }
}

std::optional<model::Cluster> PostgresGroupStore::find_cluster(model::TenantId tenant, std::string_view cluster_id) {
  const auto spelled = model::parse_cluster_id(cluster_id);
  if (!spelled) return std::nullopt;
  const Rows rows = pool_.read([&](Connection& connection) {
    return connection.query(kFindCluster, std::move(Params().i32(column(tenant)).bytes(*spelled)));
  });
  if (rows.empty() || !rows.bytes(0, 0).starts_with(*spelled)) return std::nullopt;
  return cluster_of(tenant, rows.bytes(0, 0), rows.bytes(0, 1));
}

std::vector<model::FailureRecord> PostgresGroupStore::first_failures(model::TenantId tenant, const model::ClusterKey& cluster,
                                                                     std::size_t most) {
  const Rows rows = pool_.read([&](Connection& connection) {
    return connection.query(kFirstFailures,
                            std::move(Params().i32(column(tenant)).bytes(view(cluster)).i64(static_cast<std::int64_t>(most))));
  });
  std::vector<model::FailureRecord> failures;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const KeyBytes key = place_key(tenant, record_key(rows, row, 0));
    try {
      failures.push_back(decoded("failure", key, [&] { return decode_failure(key, rows.bytes(row, 2)); }));
    } catch (const StoreError& bad) {
      report(bad.what());
    }
  }
  return failures;
}

std::vector<model::TriageEntry> PostgresGroupStore::triage_history(model::TenantId tenant, const model::ClusterKey& cluster,
                                                                   const Range& range) {
  const model::RecordKey before = range.after.value_or(kBeyond);
  const Rows rows = pool_.read([&](Connection& connection) {
    return connection.query(kHistory, std::move(Params()
                                                    .i32(column(tenant))
                                                    .bytes(view(cluster))
                                                    .i64(before.time_ms)
                                                    .i64(column(before.seq))
                                                    .i64(static_cast<std::int64_t>(range.limit))));
  });
  std::vector<model::TriageEntry> entries;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const KeyBytes key = triage_place(tenant, cluster, record_key(rows, row, 0));
    try {
      entries.push_back(decoded("triage", key, [&] { return decode_triage(key, rows.bytes(row, 2)); }));
    } catch (const StoreError& bad) {
      report(bad.what());
    }
  }
  return entries;
}

Page<model::RunRecord> PostgresGroupStore::cluster_runs(model::TenantId tenant, const model::ClusterKey& cluster, const RunQuery& query) {
  if (!is_text(query.detector)) return {};
  Page<model::RunRecord> page;
  std::uint64_t bytes = 0;
  model::RecordKey last;  // failure of the run that was added last
  model::RecordKey behind = query.range.after.value_or(kBeyond);
  for (bool more = true; more;) {
    const Rows rows = pool_.read([&](Connection& connection) {
      return connection.query(kClusterRuns, std::move(Params()
                                                          .i32(column(tenant))
                                                          .bytes(view(cluster))
                                                          .i64(query.range.since_ms)
                                                          .i64(query.range.before_ms)
                                                          .i64(behind.time_ms)
                                                          .i64(column(behind.seq))
                                                          .i64(kRunsAtOnce)
                                                          .text(query.detector)
                                                          .i16(static_cast<std::int16_t>(std::min(query.min_score.value_or(0), 1000)))));
    });
    more = rows.size() == static_cast<std::size_t>(kRunsAtOnce);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      behind = record_key(rows, row, 0);
      try {
        model::RunRecord run = sized_head(rows, row, 2, {tenant, query.outlines});
        if (!fits(query, run)) continue;
        if (query.outlines == OutlineToo::yes) run.json_bytes = outline_bytes(run);
        const bool full = page.items.size() >= query.range.limit || bytes + run.json_bytes > query.range.max_bytes;
        if (!page.items.empty() && full) {
          page.next = last;
          return page;
        }
        bytes += run.json_bytes;
        page.items.push_back(std::move(run));
        last = behind;
      } catch (const StoreError& bad) {
        report(bad.what());
      }
    }
  }
  return page;
}

ChangeMarks PostgresGroupStore::change_marks(model::TenantId tenant, const Span& span, std::size_t most) {
  const auto within = [&] { return std::move(Params().i32(column(tenant)).i64(span.from_ms).i64(span.before_ms)); };
  Params newest = within();
  newest.i64(static_cast<std::int64_t>(most));
  const std::vector<Rows> rows = pool_.read([&](Connection& connection) {
    const std::vector<Connection::Statement> statements{{kMarks, newest}, {kCountMarks, within()}};
    return connection.run(statements);
  });
  ChangeMarks marks;
  for (std::size_t row = rows[0].size(); row-- > 0;) {
    try {
      marks.changes.push_back(change_of(tenant, rows[0], row));
    } catch (const StoreError& bad) {
      report(bad.what());
    }
  }
  marks.left_out = unsigned_at(rows[1], 0, 0) - std::min<std::uint64_t>(rows[0].size(), unsigned_at(rows[1], 0, 0));
  return marks;
}

std::uint64_t PostgresGroupStore::last_commit(model::TenantId tenant) {
  return pool_.read(
      [&](Connection& connection) { return unsigned_at(connection.query(kLast, std::move(Params().i32(column(tenant)))), 0, 0); });
}

TailPage PostgresGroupStore::tail(model::TenantId tenant, std::uint64_t after, std::size_t most) {
  TailPage page;
  page.next = after;
  // `after` is from a store that a backup has replaced.
  if (after > last_commit(tenant)) {
    page.too_old = true;
    return page;
  }
  const KeyBytes key = tail_place(tenant);
  for (bool more = true; more;) {
    const Rows rows = pool_.read([&](Connection& connection) {
      return connection.query(kLogFrom, std::move(Params().i32(column(tenant)).i64(column(page.next)).i64(kLogRowsAtOnce)));
    });
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const std::uint64_t first = unsigned_at(rows, row, 0);
      const std::vector<TailItem> items = decoded("commit_log", key, [&] { return decode_tail(key, rows.bytes(row, 1)); });
      if (!add_row(page, first, items, most)) return page;
    }
    more = rows.size() == static_cast<std::size_t>(kLogRowsAtOnce);
  }
  return page;
}

}  // namespace runwarden::store::postgres
