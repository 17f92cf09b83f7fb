#include "store/postgres/review_store.h"

#include <utility>

#include "store/postgres/group_rows.h"
#include "store/postgres/reviews.h"
#include "store/postgres/schema.h"

namespace runwarden::store::postgres {
namespace {


constexpr const char* kOfRun = R"sql(
SELECT DISTINCT ON (subject) time_ms, seq, body FROM runwarden.review WHERE tenant = $1 AND run_time_ms = $2 AND run_seq = $3
ORDER BY subject, time_ms DESC, seq DESC)sql";
// Of the runs at the places in two arrays; the first column is the position in them, from 1.
constexpr const char* kOfRuns = R"sql(
SELECT u.n, v.time_ms, v.seq, v.body FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY u(time_ms, seq, n)
CROSS JOIN LATERAL (SELECT DISTINCT ON (w.subject) w.subject, w.time_ms, w.seq, w.body FROM runwarden.review w
  WHERE w.tenant = $1 AND w.run_time_ms = u.time_ms AND w.run_seq = u.seq ORDER BY w.subject, w.time_ms DESC, w.seq DESC) v
ORDER BY u.n, v.subject)sql";
// $4 and $5 the range, $6 and $7 where to continue, $8 how many.
constexpr const char* kHistoryOfRun = R"sql(
SELECT time_ms, seq, body FROM runwarden.review WHERE tenant = $1 AND run_time_ms = $2 AND run_seq = $3 AND failure_ms IS NULL
  AND time_ms >= $4 AND time_ms < $5 AND (time_ms, seq) < ($6, $7) ORDER BY time_ms DESC, seq DESC LIMIT $8)sql";
constexpr const char* kHistoryOfSubject = R"sql(
SELECT time_ms, seq, body FROM runwarden.review WHERE tenant = $1 AND run_time_ms = $2 AND run_seq = $3 AND subject = $9
  AND time_ms >= $4 AND time_ms < $5 AND (time_ms, seq) < ($6, $7) ORDER BY time_ms DESC, seq DESC LIMIT $8)sql";
const std::string kCounts =
    "SELECT r.detector, r.version, r.settings, r.verdict, r.of_candidate, count(*) FROM runwarden.review r"
    " WHERE r.tenant = $1 AND r.time_ms >= $2 AND r.verdict <> 0 AND " +
    is_last_review("r") + " GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5";
// The runs after $2 and $3, at most $4, each with the last review of each subject.
constexpr const char* kReviewedRuns = R"sql(
SELECT k.run_time_ms, k.run_seq, v.time_ms, v.seq, v.body FROM (
  SELECT DISTINCT run_time_ms, run_seq FROM runwarden.review WHERE tenant = $1 AND (run_time_ms, run_seq) > ($2, $3)
  ORDER BY run_time_ms, run_seq LIMIT $4) k
CROSS JOIN LATERAL (SELECT DISTINCT ON (w.subject) w.subject, w.time_ms, w.seq, w.body FROM runwarden.review w
  WHERE w.tenant = $1 AND w.run_time_ms = k.run_time_ms AND w.run_seq = k.run_seq ORDER BY w.subject, w.time_ms DESC, w.seq DESC) v
ORDER BY k.run_time_ms, k.run_seq, v.subject)sql";

constexpr model::RecordKey kBeyond{kEndMs, static_cast<std::uint64_t>(kEndMs)};

Params of_run(model::TenantId tenant, const model::RecordKey& run) {
  return std::move(Params().i32(column(tenant)).i64(run.time_ms).i64(column(run.seq)));
}

}  // namespace

void PostgresReviewStore::report(const std::string& text) const {
  if (on_unreadable_) on_unreadable_(text);
}

std::vector<model::Review> PostgresReviewStore::reviews_of_run(model::TenantId tenant, const model::RecordKey& run) {
  const Rows rows = pool_.read([&](Connection& connection) { return connection.query(kOfRun, of_run(tenant, run)); });
  std::vector<model::Review> reviews;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    model::Review last = review_at(rows, row, 0, tenant);
    if (last.verdict != model::ReviewVerdict::none) reviews.push_back(std::move(last));
  }
  return reviews;
}

std::vector<std::vector<model::Review>> PostgresReviewStore::reviews_of_runs(model::TenantId tenant,
                                                                             std::span<const model::RecordKey> runs) {
  std::vector<std::vector<model::Review>> reviews(runs.size());
  if (runs.empty()) return reviews;
  const Rows rows = pool_.read([&](Connection& connection) { return connection.query(kOfRuns, by_keys(tenant, runs)); });
  for (std::size_t row = 0; row < rows.size(); ++row) {
    try {
      model::Review last = review_at(rows, row, 1, tenant);
      if (last.verdict != model::ReviewVerdict::none) reviews[static_cast<std::size_t>(rows.number(row, 0)) - 1].push_back(std::move(last));
    } catch (const StoreError& bad) {
      report(bad.what());
    }
  }
  return reviews;
}

std::vector<model::Review> PostgresReviewStore::review_history(model::TenantId tenant, const model::RecordKey& run,
                                                               const std::string& failure_id, const Range& range) {
  const model::RecordKey before = range.after.value_or(kBeyond);
  Params params = of_run(tenant, run);
  params.i64(range.since_ms).i64(range.before_ms).i64(before.time_ms).i64(column(before.seq)).i64(static_cast<std::int64_t>(range.limit));
  model::Review subject;
  subject.failure_id = failure_id;
  if (!failure_id.empty()) params.bytes(subject_of(subject));
  const Rows rows = pool_.read([&](Connection& connection) {
    return connection.query(failure_id.empty() ? kHistoryOfRun : kHistoryOfSubject, params);
  });
  std::vector<model::Review> history;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    try {
      history.push_back(review_at(rows, row, 0, tenant));
    } catch (const StoreError& bad) {
      report(bad.what());
    }
  }
  return history;
}

std::vector<ReviewedVersion> PostgresReviewStore::review_counts(model::TenantId tenant, std::int64_t since_ms) {
  const std::int64_t from_ms = since_ms < kDayMs ? kBeginningMs : since_ms / kDayMs * kDayMs;
  const Rows rows = pool_.read([&](Connection& connection) {
    return connection.query(kCounts, std::move(Params().i32(column(tenant)).i64(from_ms)));
  });
  std::vector<ReviewedVersion> versions;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string_view detector = rows.bytes(row, 0);
    const std::string_view version = rows.bytes(row, 1);
    const std::string_view settings = rows.bytes(row, 2);
    const bool same = !versions.empty() && versions.back().detector_key == detector && versions.back().detector_version == version &&
                      versions.back().settings_hash == settings;
    if (!same) versions.push_back({std::string(detector), std::string(version), std::string(settings), {}});
    model::Review counted;
    counted.verdict = static_cast<model::ReviewVerdict>(rows.number(row, 3));
    counted.of_candidate = rows.boolean(row, 4);
    versions.back().counts.of(model::counted_verdict(counted)) += unsigned_at(rows, row, 5);
  }
  return versions;
}

std::vector<ReviewedRun> PostgresReviewStore::reviewed_runs(model::TenantId tenant, const std::optional<model::RecordKey>& after,
                                                            std::size_t most) {
  constexpr std::int64_t kBeforeAll = std::numeric_limits<std::int64_t>::min();
  const Rows rows = pool_.read([&](Connection& connection) {
    return connection.query(kReviewedRuns, std::move(Params()
                                                         .i32(column(tenant))
                                                         .i64(after ? after->time_ms : kBeforeAll)
                                                         .i64(after ? column(after->seq) : kBeforeAll)
                                                         .i64(static_cast<std::int64_t>(most))));
  });
  std::vector<ReviewedRun> runs;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const model::RecordKey run = record_key(rows, row, 0);
    if (runs.empty() || runs.back().run != run) runs.push_back({run, {}});
    try {
      model::Review last = review_at(rows, row, 2, tenant);
      if (last.verdict != model::ReviewVerdict::none) runs.back().reviews.push_back(std::move(last));
    } catch (const StoreError& bad) {
      report(bad.what());
    }
  }
  return runs;
}

}  // namespace runwarden::store::postgres
