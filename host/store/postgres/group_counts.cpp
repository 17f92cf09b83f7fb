// The counts of PostgresGroupStore: by time, by subject and by dimension values. They are made from the records themselves, without false
// alarms, in spans that are widened as store/group_store.h says.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "store/postgres/group_rows.h"
#include "store/postgres/group_store.h"

namespace runwarden::store::postgres {
namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 60;
constexpr std::array<int, 4> kShifts = {10, 16, 22, 28};  // sizes of the entries that buckets are made of
constexpr std::int64_t kMostEntries = 25'000;             // per span

// The numbers of a value in stretches $6 to $7: $2 dimension, $3 value.
constexpr const char* kIds =
    "ARRAY(SELECT v.id FROM runwarden.dimension_value v WHERE v.tenant = $1 AND v.dimension = $2 AND v.value = $3 AND v.stretch BETWEEN $6 "
    "AND $7)";

// SQL condition: the failure belongs to the subject, which is in that parameter.
std::string of_subject(const Subject& subject, const char* parameter) {
  if (subject.kind == Subject::Kind::cluster) return std::string(" AND f.fingerprint = ") + parameter;
  if (subject.kind == Subject::Kind::detector) return std::string(" AND f.detector = ") + parameter;
  return {};
}
void add_subject(Params& params, const Subject& subject) {
  if (subject.kind == Subject::Kind::cluster) params.bytes(view(subject.cluster));
  if (subject.kind == Subject::Kind::detector) params.text(subject.detector_key);
}
// No failure belongs to a detector key that the database cannot hold.
bool may_be_there(const Subject& subject) { return subject.kind != Subject::Kind::detector || is_text(subject.detector_key); }

Span clamped(const Span& span) { return {std::clamp(span.from_ms, -kFar, kFar), std::clamp(span.before_ms, -kFar, kFar)}; }

Params with_value(model::TenantId tenant, const model::Dimension& value, const Span& span) {
  return std::move(Params().i32(column(tenant)).bytes(value.name).bytes(value.value).i64(span.from_ms).i64(span.before_ms)
                       .i64(span.from_ms >> kStretchShift).i64((span.before_ms - 1) >> kStretchShift));
}

std::uint64_t count(Pool& pool, const std::string& sql, const Params& params) {
  return pool.read([&](Connection& connection) { return unsigned_at(connection.query(sql, params), 0, 0); });
}

// The shift of the finest entries that do not make the buckets too many entries.
int shift_of(const TimeBuckets& buckets) {
  std::size_t index = 0;
  while (index + 1 < kShifts.size() && (buckets.end_ms() - buckets.from_ms) >> kShifts[index] > kMostEntries) ++index;
  return kShifts[index];
}

// `from_where` names a table with a column time_ms, and conditions; parameters after $6 are the subject's. An entry belongs to the bucket
// in which its part of the span begins.
std::vector<std::uint64_t> sums_of(Pool& pool, const std::string& from_where, model::TenantId tenant, const Subject& subject,
                                   const Span& span, const TimeBuckets& buckets) {
  std::vector<std::uint64_t> sums(buckets.count);
  const std::string sql = "SELECT (GREATEST((time_ms >> $5) << $5, $2) - $4) / $6, count(*) FROM " + from_where +
                          " AND time_ms >= $2 AND time_ms < $3 GROUP BY 1";
  Params params;
  params.i32(column(tenant)).i64(span.from_ms).i64(span.before_ms).i64(buckets.from_ms).i32(shift_of(buckets)).i64(buckets.width_ms);
  add_subject(params, subject);
  const Rows rows = pool.read([&](Connection& connection) { return connection.query(sql, params); });
  for (std::size_t row = 0; row < rows.size(); ++row) sums.at(static_cast<std::size_t>(rows.number(row, 0))) += unsigned_at(rows, row, 1);
  return sums;
}

}  // namespace

std::uint64_t PostgresGroupStore::count_failures_of(model::TenantId tenant, const Subject& subject, const Span& span) {
  const Span exact = clamped(span);
  if (exact.from_ms >= exact.before_ms || !may_be_there(subject)) return 0;
  Params params;
  params.i32(column(tenant)).i64(exact.from_ms).i64(exact.before_ms);
  add_subject(params, subject);
  return count(pool_,
               "SELECT count(*) FROM runwarden.failure f WHERE f.tenant = $1 AND NOT f.shadow AND NOT f.false_alarm AND f.time_ms >= $2 "
               "AND f.time_ms < $3" +
                   of_subject(subject, "$4"),
               params);
}

std::uint64_t PostgresGroupStore::count_affected(model::TenantId tenant, const Subject& subject, const Span& span) {
  if (!may_be_there(subject)) return 0;
  const Span wide = whole_entries(span);
  Params params;
  params.i32(column(tenant)).i64(wide.from_ms).i64(wide.before_ms);
  add_subject(params, subject);
  return count(pool_,
               "SELECT count(*) FROM (SELECT DISTINCT f.run_time_ms, f.run_seq FROM runwarden.failure f WHERE f.tenant = $1 AND NOT "
               "f.shadow AND NOT f.false_alarm"
               " AND f.run_time_ms >= $2 AND f.run_time_ms < $3" +
                   of_subject(subject, "$4") +
                   ") a JOIN runwarden.run r ON r.time_ms = a.run_time_ms AND r.seq = a.run_seq WHERE r.tenant = $1 AND r.time_ms >= $2 "
                   "AND r.time_ms < $3",
               params);
}

std::uint64_t PostgresGroupStore::count_all_runs(model::TenantId tenant, const Span& span) {
  return count(pool_, "SELECT count(*) FROM runwarden.run WHERE tenant = $1 AND time_ms >= $2 AND time_ms < $3",
               Params().i32(column(tenant)).i64(span.from_ms).i64(span.before_ms));
}

std::vector<DimensionRow> PostgresGroupStore::dimension_values(model::TenantId tenant, const std::optional<Span>& span, std::size_t most) {
  const Span all{-kFar, kFar};
  const Span about = clamped(span.value_or(all));
  const std::int64_t first = about.from_ms >> kStretchShift;
  const std::int64_t last = (about.before_ms - 1) >> kStretchShift;
  const Rows found = pool_.read([&](Connection& connection) {
    return connection.query(
        "SELECT v.dimension, v.value, count(*), min(d.time_ms), max(d.time_ms) FROM runwarden.dimension_value v"
        " JOIN runwarden.run_dimension d ON d.tenant = v.tenant AND d.value_id = v.id"
        " WHERE v.tenant = $1 AND v.stretch BETWEEN $2 AND $3 AND d.tenant = $1 AND d.time_ms >= $4 AND d.time_ms < $5"
        " GROUP BY v.dimension, v.value ORDER BY v.dimension, count(*) DESC, v.value",
        std::move(Params().i32(column(tenant)).i64(first).i64(last).i64(first << kStretchShift).i64((last + 1) << kStretchShift)));
  });
  std::vector<DimensionRow> rows;
  std::size_t of_dimension = 0;
  for (std::size_t row = 0; row < found.size(); ++row) {
    const bool same = !rows.empty() && row > 0 && found.bytes(row, 0) == found.bytes(row - 1, 0);
    of_dimension = same ? of_dimension + 1 : 1;
    if (of_dimension > most) continue;
    rows.push_back({std::string(found.bytes(row, 0)), std::string(found.bytes(row, 1)), unsigned_at(found, row, 2), found.number(row, 3),
                    found.number(row, 4)});
  }
  return rows;
}

std::uint64_t PostgresGroupStore::count_runs_with(model::TenantId tenant, const model::Dimension& value, const Span& span) {
  return count(pool_, std::string("SELECT count(*) FROM runwarden.run_dimension d WHERE d.tenant = $1 AND d.value_id = ANY(") + kIds +
                          ") AND d.time_ms >= $4 AND d.time_ms < $5",
               with_value(tenant, value, whole_entries(span)));
}

std::uint64_t PostgresGroupStore::count_affected_with(model::TenantId tenant, const Subject& subject, const model::Dimension& value,
                                                      const Span& span) {
  if (!may_be_there(subject)) return 0;
  Params params = with_value(tenant, value, whole_entries(span));
  add_subject(params, subject);
  return count(pool_,
               "SELECT count(*) FROM (SELECT DISTINCT f.run_time_ms, f.run_seq FROM runwarden.failure f WHERE f.tenant = $1 AND NOT "
               "f.shadow AND NOT f.false_alarm"
               " AND f.run_time_ms >= $4 AND f.run_time_ms < $5" +
                   of_subject(subject, "$8") +
                   ") a JOIN runwarden.run_dimension d ON d.time_ms = a.run_time_ms AND d.seq = a.run_seq"
                   " WHERE d.tenant = $1 AND d.time_ms >= $4 AND d.time_ms < $5 AND d.value_id = ANY(" +
                   kIds + ")",
               params);
}

std::vector<std::uint64_t> PostgresGroupStore::most_affected_with(model::TenantId tenant, std::span<const model::ClusterKey> clusters,
                                                                  const model::Dimension& value, const Span& span) {
  std::vector<std::string_view> halves;
  halves.reserve(clusters.size());
  for (const model::ClusterKey& cluster : clusters) halves.push_back(view(cluster));
  Params params = with_value(tenant, value, whole_entries(span));
  params.byteas(halves);
  const std::string sql =
      std::string(
          "SELECT a.fingerprint, count(*) FROM (SELECT DISTINCT f.fingerprint, f.run_time_ms, f.run_seq FROM runwarden.failure f"
          " WHERE f.tenant = $1 AND NOT f.shadow AND NOT f.false_alarm AND f.run_time_ms >= $4 AND f.run_time_ms < $5 AND f.fingerprint = "
          "ANY($8)) a"
          " JOIN runwarden.run_dimension d ON d.time_ms = a.run_time_ms AND d.seq = a.run_seq"
          " WHERE d.tenant = $1 AND d.time_ms >= $4 AND d.time_ms < $5 AND d.value_id = ANY(") +
      kIds + ") GROUP BY 1";
  const Rows rows = pool_.read([&](Connection& connection) { return connection.query(sql, params); });
  std::map<model::ClusterKey, std::uint64_t> counts;
  for (std::size_t row = 0; row < rows.size(); ++row) counts[cluster_key_of(rows.bytes(row, 0))] = unsigned_at(rows, row, 1);
  std::vector<std::uint64_t> sums;
  sums.reserve(clusters.size());
  for (const model::ClusterKey& cluster : clusters) sums.push_back(counts[cluster]);
  return sums;
}

std::optional<model::RecordKey> PostgresGroupStore::first_run_with(model::TenantId tenant, const model::Dimension& value) {
  const Rows rows = pool_.read([&](Connection& connection) {
    return connection.query(
        "SELECT d.time_ms, d.seq FROM runwarden.dimension_value v CROSS JOIN LATERAL (SELECT r.time_ms, r.seq FROM runwarden.run_dimension "
        "r"
        " WHERE r.tenant = v.tenant AND r.value_id = v.id ORDER BY r.time_ms, r.seq LIMIT 1) d"
        " WHERE v.tenant = $1 AND v.dimension = $2 AND v.value = $3 ORDER BY d.time_ms, d.seq LIMIT 1",
        std::move(Params().i32(column(tenant)).bytes(value.name).bytes(value.value)));
  });
  if (rows.empty()) return std::nullopt;
  return record_key(rows, 0, 0);
}

std::optional<AffectedRuns> PostgresGroupStore::runs_just_before(model::TenantId tenant, const model::RecordKey& run, std::size_t most) {
  const std::int64_t from_ms = whole_entries({run.time_ms, run.time_ms}).from_ms;
  const auto earlier = [&] { return std::move(Params().i32(column(tenant)).i64(from_ms).i64(run.time_ms).i64(column(run.seq))); };
  Params runs = earlier();
  runs.i64(static_cast<std::int64_t>(most) + 1);
  const std::vector<Rows> rows = pool_.read([&](Connection& connection) {
    const std::vector<Connection::Statement> statements{
        {"SELECT count(*) FROM (SELECT FROM runwarden.run WHERE tenant = $1 AND time_ms >= $2 AND time_ms <= $3 AND (time_ms, seq) < ($3, "
         "$4) LIMIT $5) r",
         runs},
        {"SELECT DISTINCT f.run_time_ms, f.run_seq, f.fingerprint, f.detector FROM runwarden.run r"
         " JOIN runwarden.failure f ON f.tenant = r.tenant AND f.run_time_ms = r.time_ms AND f.run_seq = r.seq AND NOT f.shadow AND NOT "
         "f.false_alarm"
         " WHERE r.tenant = $1 AND r.time_ms >= $2 AND r.time_ms <= $3 AND (r.time_ms, r.seq) < ($3, $4)",
         earlier()}};
    return connection.run(statements);
  });
  AffectedRuns before;
  before.runs = unsigned_at(rows[0], 0, 0);
  if (before.runs > most) return std::nullopt;
  std::set<model::RecordKey> affected;
  std::set<std::pair<model::RecordKey, model::ClusterKey>> clusters;
  std::set<std::pair<model::RecordKey, std::string>> detectors;
  for (std::size_t row = 0; row < rows[1].size(); ++row) {
    const model::RecordKey at = record_key(rows[1], row, 0);
    affected.insert(at);
    clusters.emplace(at, cluster_key_of(rows[1].bytes(row, 2)));
    detectors.emplace(at, rows[1].bytes(row, 3));
  }
  before.affected = affected.size();
  for (const auto& [at, cluster] : clusters) ++before.by_cluster[cluster];
  for (const auto& [at, detector] : detectors) ++before.by_detector[detector];
  return before;
}

std::vector<std::uint64_t> PostgresGroupStore::failure_buckets(model::TenantId tenant, const Subject& subject, const Span& span,
                                                               const TimeBuckets& buckets) {
  if (!may_be_there(subject)) return std::vector<std::uint64_t>(buckets.count);
  return sums_of(pool_, "runwarden.failure f WHERE f.tenant = $1 AND NOT f.shadow AND NOT f.false_alarm" + of_subject(subject, "$7"),
                 tenant, subject, span, buckets);
}

std::vector<std::uint64_t> PostgresGroupStore::run_buckets(model::TenantId tenant, const Span& span, const TimeBuckets& buckets) {
  return sums_of(pool_, "runwarden.run WHERE tenant = $1", tenant, Subject::any(), span, buckets);
}

}  // namespace runwarden::store::postgres
