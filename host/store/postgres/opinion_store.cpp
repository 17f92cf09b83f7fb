#include "store/postgres/opinion_store.h"

#include <utility>
#include <vector>

#include "store/key_encoding.h"
#include "store/opinion_codec.h"
#include "store/page_filling.h"
#include "store/postgres/group_rows.h"
#include "store/postgres/row.h"

namespace runwarden::store::postgres {
namespace {

constexpr int kMostTries = 5;
constexpr std::size_t kSlice = 256;
constexpr model::RecordKey kBeyond{kEndMs, static_cast<std::uint64_t>(kEndMs)};

// $2 and $3 the range, $4 and $5 where to continue, $6 the detector or nothing, $7 the state or -1, $8 how many.
constexpr const char* kCandidates = R"sql(
SELECT time_ms, seq, body FROM runwarden.opinion WHERE tenant = $1 AND time_ms >= $2 AND time_ms < $3 AND (time_ms, seq) < ($4, $5) AND NOT of_alarm
  AND ($6 = '' OR detector = $6) AND ($7 < 0 OR state = $7) ORDER BY time_ms DESC, seq DESC LIMIT $8)sql";
constexpr const char* kOfRun = R"sql(
SELECT time_ms, seq, body FROM runwarden.opinion WHERE tenant = $1 AND run_time_ms = $2 AND run_seq = $3 ORDER BY time_ms, seq)sql";
// Skips what another host is claiming.
constexpr const char* kLockDue = R"sql(
SELECT tenant, time_ms, seq, body FROM runwarden.opinion WHERE state = 0 AND due_ms <= $1 ORDER BY due_ms LIMIT $2 FOR UPDATE SKIP LOCKED)sql";
constexpr const char* kClaim = R"sql(
UPDATE runwarden.opinion o SET due_ms = $4, token = u.token, body = u.body
FROM unnest($1::int[], $2::bigint[], $3::bigint[], $5::bigint[], $6::bytea[]) u(tenant, time_ms, seq, token, body)
WHERE o.tenant = u.tenant AND o.time_ms = u.time_ms AND o.seq = u.seq)sql";
// Looks for the oldest among those that are due first.
constexpr const char* kQueue = R"sql(
SELECT (SELECT count(*) FROM runwarden.opinion WHERE state = 0), (SELECT count(*) FROM runwarden.opinion WHERE state = 4),
  (SELECT min(o.time_ms) FROM (SELECT time_ms FROM runwarden.opinion WHERE state = 0 ORDER BY due_ms LIMIT 1024) o))sql";

model::Opinion opinion_at(const Rows& rows, std::size_t row, int column, model::TenantId tenant) {
  const KeyBytes key = place_key(tenant, record_key(rows, row, column));
  return decoded("opinion", key, [&] { return decode_opinion(key, rows.bytes(row, column + 2)); });
}

}  // namespace

void PostgresOpinionStore::report(const std::string& text) const {
  if (parts_.on_unreadable) parts_.on_unreadable(text);
}

Page<model::Opinion> PostgresOpinionStore::candidates(model::TenantId tenant, const CandidateQuery& query) {
  PageFilling<model::Opinion> page(query.range);
  const std::string detector = is_text(query.detector) ? query.detector : std::string();
  if (detector != query.detector) return page.take();
  model::RecordKey before = query.range.after.value_or(kBeyond);
  for (;;) {
    const Rows rows = parts_.pool.read([&](Connection& connection) {
      return connection.query(kCandidates, std::move(Params()
                                                         .i32(column(tenant))
                                                         .i64(query.range.since_ms)
                                                         .i64(query.range.before_ms)
                                                         .i64(before.time_ms)
                                                         .i64(column(before.seq))
                                                         .text(detector)
                                                         .i32(query.state ? static_cast<int>(*query.state) : -1)
                                                         .i64(static_cast<std::int64_t>(kSlice))));
    });
    for (std::size_t row = 0; row < rows.size(); ++row) {
      before = record_key(rows, row, 0);
      try {
        model::Opinion opinion = opinion_at(rows, row, 0, tenant);
        const std::uint64_t bytes = stored_bytes(opinion);
        if (!page.has_room(bytes)) return page.take();
        page.add(std::move(opinion), bytes);
      } catch (const StoreError& bad) {
        report(bad.what());
      }
    }
    if (rows.size() < kSlice) return page.take();
  }
}

std::vector<model::Opinion> PostgresOpinionStore::opinions_of_run(model::TenantId tenant, const model::RecordKey& run) {
  const Rows rows = parts_.pool.read([&](Connection& connection) {
    return connection.query(kOfRun, std::move(Params().i32(column(tenant)).i64(run.time_ms).i64(column(run.seq))));
  });
  std::vector<model::Opinion> opinions;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    try {
      opinions.push_back(opinion_at(rows, row, 0, tenant));
    } catch (const StoreError& bad) {
      report(bad.what());
    }
  }
  return opinions;
}

std::vector<TenantOpinion> PostgresOpinionStore::claim_due(std::int64_t now_ms, std::int64_t until_ms, std::size_t most) {
  return parts_.pool.write([&](Connection& connection) {
    for (int tries = 1;; ++tries) {
      try {
        connection.script("BEGIN; SET LOCAL synchronous_commit = on");
        const Rows rows = connection.query(kLockDue, std::move(Params().i64(now_ms).i64(static_cast<std::int64_t>(most))));
        std::vector<TenantOpinion> claimed;
        std::vector<std::int32_t> tenants;
        std::vector<std::int64_t> times, seqs, tokens;
        std::vector<std::string> bodies;
        for (std::size_t row = 0; row < rows.size(); ++row) {
          const model::TenantId tenant = tenant_at(rows, row, 0);
          try {
            model::Opinion opinion = opinion_at(rows, row, 1, tenant);
            opinion.token = parts_.next_seq();
            opinion.due_ms = until_ms;
            tenants.push_back(column(tenant));
            times.push_back(opinion.key.time_ms);
            seqs.push_back(column(opinion.key.seq));
            tokens.push_back(column(opinion.token));
            bodies.push_back(encode_opinion(place_key(tenant, opinion.key), opinion));
            claimed.push_back({tenant, std::move(opinion)});
          } catch (const StoreError& bad) {
            report(bad.what());
          }
        }
        if (!claimed.empty()) {
          connection.query(kClaim, std::move(Params().i32s(tenants).i64s(times).i64s(seqs).i64(until_ms).i64s(tokens).byteas(
                                       std::span<const std::string>(bodies))));
        }
        connection.script("COMMIT");
        return claimed;
      } catch (const PgFault& fault) {
        if (fault.kind != PgFault::Kind::again || tries == kMostTries) throw;
        connection.rollback();
      }
    }
  });
}

OpinionQueue PostgresOpinionStore::opinion_queue() {
  const Rows rows = parts_.pool.read([](Connection& connection) { return connection.query(kQueue); });
  OpinionQueue queue{unsigned_at(rows, 0, 0), unsigned_at(rows, 0, 1), std::nullopt};
  if (!rows.is_null(0, 2)) queue.oldest_ms = rows.number(0, 2);
  return queue;
}

}  // namespace runwarden::store::postgres
