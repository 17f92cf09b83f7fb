#include "store/postgres/reads.h"

#include <algorithm>
#include <utility>

#include "model/cluster.h"
#include "model/record_ids.h"
#include "store/change_codec.h"
#include "store/event_codec.h"
#include "store/key_encoding.h"
#include "store/page_filling.h"
#include "store/postgres/group_rows.h"
#include "store/postgres/reviews.h"
#include "store/postgres/row.h"
#include "store/postgres/run_heads.h"
#include "store/record_codec.h"

namespace runwarden::store::postgres {
namespace {

constexpr std::int64_t kFewRows = 64;  // large records that are read at once
constexpr std::int64_t kManyRows = 256;

// The place of the run with an id: $1 tenant, $2 the id, $3 and $4 the place that it spells, or null.
constexpr const char* kPlace =
    "WITH place AS (SELECT time_ms, seq FROM runwarden.head WHERE tenant = $1 AND run_id = $2"
    " UNION ALL SELECT time_ms, seq FROM runwarden.run WHERE tenant = $1 AND time_ms = $3 AND seq = $4 AND run_id = $2 LIMIT 1) ";
constexpr const char* kRunAtPlace = " FROM place p JOIN runwarden.run r ON r.tenant = $1 AND r.time_ms = p.time_ms AND r.seq = p.seq";
constexpr const char* kRunAtKey = " FROM runwarden.run r WHERE r.tenant = $1 AND r.time_ms = $2 AND r.seq = $3";

const std::string kBody = run_body();
const std::string kSelectHead = "SELECT " + head_columns();  // one more column, if any, is the head of another revision
const std::string kFindHead = kPlace + kSelectHead + kRunAtPlace;
const std::string kFindHeads = kPlace + kSelectHead + ", " + previous_column(head_of("f.body"), "$5") + kRunAtPlace;
// Columns: time, seq, body.
const std::string kFindRun = kPlace + ("SELECT r.time_ms, r.seq, " + kBody) + kRunAtPlace;
constexpr const char* kChangeAt = "SELECT body FROM runwarden.change WHERE tenant = $1 AND time_ms = $2 AND seq = $3";
constexpr const char* kPolicyAt = "SELECT body FROM runwarden.policy WHERE tenant = $1 AND time_ms = $2 AND seq = $3";
const std::string kRunAt = "SELECT r.time_ms, r.seq, " + kBody + kRunAtKey;
const std::string kFindRevision =
    kPlace +
    ("SELECT r.time_ms, r.seq, CASE WHEN r.revision = $5 AND r.state <> 0 THEN r.body ELSE " + previous_column("f.body", "$5") + " END") +
    kRunAtPlace;
// The run of an answer: as it is or, if another revision has followed, the revision of the answer.
const std::string kAnsweredRun =
    "SELECT r.time_ms, r.seq, CASE WHEN r.revision > $4 THEN " + previous_column("f.body", "$4") + " ELSE " + kBody + " END" + kRunAtKey;

const std::string kSettings = std::string("SELECT ") + kByKeys;
// Which of those asked about exist: their positions in the arrays, from 1.
constexpr std::string_view kWhichHeads =
    "SELECT u.n FROM unnest($1::int[], $2::text[]) WITH ORDINALITY u(tenant, run_id, n)"
    " WHERE EXISTS (SELECT FROM runwarden.head h WHERE h.tenant = u.tenant AND h.run_id = u.run_id)";
constexpr std::string_view kWhichIdentities =
    "SELECT u.n FROM unnest($1::int[], $2::bytea[]) WITH ORDINALITY u(tenant, identity, n)"
    " WHERE EXISTS (SELECT FROM runwarden.idempotency i WHERE i.tenant = u.tenant AND i.identity = u.identity)";
constexpr std::string_view kWhichPolicies =
    "SELECT u.n, p.policy, p.revision, p.content FROM unnest($1::int[], $2::bigint[]) WITH ORDINALITY u(tenant, at_ms, n) CROSS JOIN "
    "LATERAL"
    " (SELECT DISTINCT ON (q.policy) q.policy, q.revision, q.content FROM runwarden.policy q WHERE q.tenant = u.tenant AND q.time_ms <= "
    "u.at_ms"
    " ORDER BY q.policy, q.time_ms DESC, q.seq DESC) p ORDER BY u.n, p.policy";

// Those at the places of two arrays, $2 and $3; the first column is the position in them, from 1. OFFSET 0 has each looked for by its key,
// and so in its partition alone.
std::string at_places(const std::string& columns, const std::string& from, const std::string& alias) {
  return "SELECT u.n, x.* FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY u(time_ms, seq, n) CROSS JOIN LATERAL (SELECT " +
         columns + " FROM " + from + " WHERE " + alias + ".tenant = $1 AND " + alias + ".time_ms = u.time_ms AND " + alias +
         ".seq = u.seq OFFSET 0) x";
}
const std::string kRunsAt = at_places("r.time_ms, r.seq, " + kBody + " AS value", "runwarden.run r", "r") + " WHERE x.value IS NOT NULL";
const std::string kFailuresAt = at_places("f.shadow, f.body, v.time_ms AS v_time_ms, v.seq AS v_seq, v.body AS v_body",
                                          "runwarden.failure f" + last_review_of_failure(), "f");

const std::string kFindFailure = "SELECT f.shadow, f.body, v.time_ms, v.seq, v.body FROM runwarden.failure f" + last_review_of_failure() +
                                 " WHERE f.tenant = $1 AND f.time_ms = $2 AND f.seq = $3";

Params by_run_id(model::TenantId tenant, std::string_view run_id) {
  const auto spelled = model::parse_run_id(run_id);
  std::optional<std::int64_t> time_ms;
  std::optional<std::int64_t> seq;
  if (spelled) {
    time_ms = spelled->time_ms;
    seq = number_of(spelled->seq);
  }
  return std::move(Params().i32(static_cast<std::int32_t>(tenant)).text(run_id).i64_or_null(time_ms).i64_or_null(seq));
}

Params by_key(model::TenantId tenant, const model::RecordKey& key) {
  return std::move(Params().i32(static_cast<std::int32_t>(tenant)).i64(key.time_ms).i64(number_of(key.seq)));
}

// The run in three columns of a row: its place and value.
model::RunRecord run_in(const Rows& rows, std::size_t row, int column, model::TenantId tenant) {
  const KeyBytes key = place_key(tenant, record_key(rows, row, column));
  return decoded("run", key, [&] { return std::move(decode_run(key, rows.bytes(row, column + 2)).run); });
}

std::optional<model::RunRecord> run_of(const Rows& rows, model::TenantId tenant) {
  if (rows.empty() || rows.is_null(0, 2)) return std::nullopt;
  return run_in(rows, 0, 0, tenant);
}

// The failure at that place in five columns of a row: whether it is shadow, its value, and its last review's place and value.
model::FailureRecord failure_in(const Rows& rows, std::size_t row, int column, const RunKey& place) {
  const KeyBytes key = place_key(place.tenant, place.key);
  auto failure = decoded("failure", key, [&] { return decode_failure(key, rows.bytes(row, column + 1)); });
  failure.shadow = rows.boolean(row, column);
  read_review(rows, row, column + 2, place.tenant, failure);
  return failure;
}

// The beginning of every list's condition: $1 tenant, $2 and $3 the range, $4 and $5 the place to continue after, $6 how many rows.
std::string in_range(const std::string& alias) {
  return " WHERE " + alias + ".tenant = $1 AND " + alias + ".time_ms >= $2 AND " + alias + ".time_ms < $3 AND " + alias +
         ".time_ms <= $4 AND (" + alias + ".time_ms, " + alias + ".seq) < ($4, $5)";
}
std::string newest_first(const std::string& alias) {
  return " ORDER BY " + alias + ".time_ms DESC, " + alias + ".seq DESC LIMIT $6";
}

std::string list_of_failures(const FailureQuery& query, const std::optional<model::RecordKey>& run) {
  std::string sql = "SELECT f.time_ms, f.seq, f.body, v.time_ms, v.seq, v.body FROM runwarden.failure f" + last_review_of_failure() +
                    in_range("f") + (query.shadow ? " AND f.shadow" : " AND NOT f.shadow");
  int last = 6;
  const auto next = [&last] { return "$" + std::to_string(++last); };
  if (run) {
    sql += " AND f.run_time_ms = " + next();
    sql += " AND f.run_seq = " + next();
  }
  if (!query.fingerprint.empty()) sql += " AND f.fingerprint = " + next();
  if (!query.detector.empty()) sql += " AND f.detector = " + next();
  if (query.severity) sql += " AND f.severity = " + next();
  if (query.min_score > 0) sql += " AND f.score >= " + next();
  if (query.reviewed) {
    sql += (*query.reviewed == model::ReviewVerdict::none ? " AND f.reviewed = " : " AND f.reviewed <> 0 AND f.reviewed = ") + next();
  }
  return sql + newest_first("f");
}

// Its parameters from $7 on.
void add_failure_params(Params& params, const FailureQuery& query, const std::optional<model::RecordKey>& run) {
  if (run) params.i64(run->time_ms).i64(number_of(run->seq));
  if (!query.fingerprint.empty()) params.bytes(view(model::cluster_key(query.fingerprint)));
  if (!query.detector.empty()) params.text(query.detector);
  if (query.severity) params.i16(static_cast<std::int16_t>(*query.severity));
  if (query.min_score > 0) params.i16(static_cast<std::int16_t>(std::min(query.min_score, 1000)));
  if (query.reviewed) params.i16(static_cast<std::int16_t>(*query.reviewed));
}

// What some of the look-ups ask for, as arrays.
template <class Value>
struct AskedColumns {
  std::vector<std::size_t> of;  // index of the look-up
  std::vector<std::int32_t> tenants;
  std::vector<Value> values;

  void add(std::size_t index, model::TenantId tenant, Value value) {
    of.push_back(index);
    tenants.push_back(static_cast<std::int32_t>(tenant));
    values.push_back(value);
  }
};

struct LookUpColumns {
  AskedColumns<std::int64_t> times;  // of all
  AskedColumns<std::string_view> run_ids;
  AskedColumns<std::string_view> identities;

  explicit LookUpColumns(std::span<const LookUp> asked);
  static constexpr std::size_t kPoliciesAt = 2;  // the answer about policies; answers about runs and identities follow
  std::vector<Connection::Statement> statements() const;
};

LookUpColumns::LookUpColumns(std::span<const LookUp> asked) {
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const LookUp& one = asked[i];
    times.add(i, one.tenant, one.at_ms);
    // The run of an id that spells a place may have no head. An id that is not valid text would make the database refuse the whole query.
    if (one.run_id && is_text(*one.run_id) && !model::parse_run_id(*one.run_id)) run_ids.add(i, one.tenant, *one.run_id);
    if (one.identity) identities.add(i, one.tenant, {reinterpret_cast<const char*>(one.identity->data()), one.identity->size()});
  }
}

std::vector<Connection::Statement> LookUpColumns::statements() const {
  std::vector<Connection::Statement> statements{{"BEGIN READ ONLY"}, {kSettings}};
  statements.push_back({kWhichPolicies, std::move(Params().i32s(times.tenants).i64s(times.values))});
  if (!run_ids.of.empty()) statements.push_back({kWhichHeads, std::move(Params().i32s(run_ids.tenants).texts(run_ids.values))});
  if (!identities.of.empty()) {
    statements.push_back({kWhichIdentities, std::move(Params().i32s(identities.tenants).byteas(identities.values))});
  }
  statements.push_back({"COMMIT"});
  return statements;
}

void take_policies(const Rows& policies, std::vector<LookedUp>& known) {
  for (std::size_t row = 0; row < policies.size(); ++row) {
    LookedUp& one = known[static_cast<std::size_t>(policies.number(row, 0)) - 1];
    if (one.fault) continue;
    const std::string_view policy = policies.bytes(row, 1);
    try {
      const model::Digest content = decoded("policy", policy, [&] { return digest_in(policies.bytes(row, 3), "content"); });
      one.policies.push_back({std::string(policy), std::string(policies.bytes(row, 2)), content});
    } catch (const StoreError&) {
      one.fault = std::current_exception();
    }
  }
}

// Reads rows that begin with time and seq, newest first, some at a time. `visit` gets each row, and returns whether to go on.
struct BackwardScan {
  Pool& pool;
  const std::string& sql;
  model::TenantId tenant = 0;
  const Range& range;
  std::int64_t rows_at_once = kManyRows;
  const std::function<void(const std::string&)>& on_unreadable;
};
template <class More, class Visit>
void scan_back(const BackwardScan& scan, More more_params, Visit visit) {
  model::RecordKey behind = scan.range.after.value_or(model::RecordKey{kEndMs, static_cast<std::uint64_t>(kEndMs)});
  const auto wanted = static_cast<std::int64_t>(std::min<std::size_t>(scan.range.limit, static_cast<std::size_t>(kManyRows))) + 1;
  const std::int64_t at_once = std::min(scan.rows_at_once, wanted);
  while (true) {
    const Rows rows = scan.pool.read([&](Connection& connection) {
      Params params;
      params.i32(static_cast<std::int32_t>(scan.tenant))
          .i64(scan.range.since_ms)
          .i64(scan.range.before_ms)
          .i64(behind.time_ms)
          .i64(number_of(behind.seq))
          .i64(at_once);
      more_params(params);
      return connection.query(scan.sql, std::move(params));
    });
    for (std::size_t row = 0; row < rows.size(); ++row) {
      behind = record_key(rows, row, 0);
      try {
        if (!visit(rows, row, behind)) return;
      } catch (const StoreError& bad) {
        // A record that cannot be read does not hide the others.
        if (scan.on_unreadable) scan.on_unreadable(bad.what());
      }
    }
    if (rows.size() < static_cast<std::size_t>(at_once)) return;
  }
}

}  // namespace

std::optional<model::RunRecord> Reads::run_head(model::TenantId tenant, std::string_view run_id, std::optional<std::uint32_t> revision) {
  if (!is_text(run_id)) return std::nullopt;
  Params params = by_run_id(tenant, run_id);
  if (revision) params.i32(static_cast<std::int32_t>(*revision));
  const Rows rows = pool_.read([&](Connection& connection) { return connection.query(revision ? kFindHeads : kFindHead, params); });
  if (rows.empty()) return std::nullopt;
  model::RunRecord head = sized_head(rows, 0, 0, {tenant, OutlineToo::yes});
  if (!revision || head.revision == *revision) return head;
  if (rows.is_null(0, 5)) return std::nullopt;
  const KeyBytes key = place_key(tenant, record_key(rows, 0, 0));
  return decoded("former", key, [&] {
    model::RunRecord previous = std::move(decode_run_head(key, rows.bytes(0, 5), OutlineToo::yes).run);
    previous.json_bytes = kOwnRunBytes + body_bytes(key, rows.bytes(0, 5));
    return previous;
  });
}

std::optional<model::RunRecord> Reads::find_run(model::TenantId tenant, std::string_view run_id) {
  if (!is_text(run_id)) return std::nullopt;
  return run_of(pool_.read([&](Connection& connection) { return connection.query(kFindRun, by_run_id(tenant, run_id)); }), tenant);
}

std::optional<model::RunRecord> Reads::find_revision(model::TenantId tenant, std::string_view run_id, std::uint32_t revision) {
  if (!is_text(run_id)) return std::nullopt;
  return run_of(pool_.read([&](Connection& connection) {
    return connection.query(kFindRevision, std::move(by_run_id(tenant, run_id).i32(static_cast<std::int32_t>(revision))));
  }), tenant);
}

std::optional<model::RunRecord> Reads::run_at(model::TenantId tenant, const model::RecordKey& key) {
  return run_of(pool_.read([&](Connection& connection) { return connection.query(kRunAt, by_key(tenant, key)); }), tenant);
}

std::optional<model::FailureRecord> Reads::find_failure(model::TenantId tenant, std::string_view failure_id) {
  const auto spelled = model::parse_failure_id(failure_id);
  if (!spelled) return std::nullopt;
  const Rows rows = pool_.read([&](Connection& connection) {
    return connection.query(kFindFailure, by_key(tenant, *spelled));
  });
  if (rows.empty()) return std::nullopt;
  auto failure = failure_in(rows, 0, 0, {tenant, *spelled});
  if (failure.id != failure_id) return std::nullopt;
  return failure;
}

// `read` makes a record of a row of at_places(), whose own columns begin with the second.
template <class Read>
auto Reads::read_each(const std::string& sql, model::TenantId tenant, std::span<const model::RecordKey> keys, Read read) {
  std::vector<std::optional<decltype(read(std::declval<const Rows&>(), 0, keys.front()))>> records(keys.size());
  if (keys.empty()) return records;
  const Rows rows = pool_.read([&](Connection& connection) { return connection.query(sql, by_keys(tenant, keys)); });
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::size_t i = static_cast<std::size_t>(rows.number(row, 0)) - 1;
    try {
      records[i] = read(rows, row, keys[i]);
    } catch (const StoreError& bad) {
      if (rules_.on_unreadable) rules_.on_unreadable(bad.what());
    }
  }
  return records;
}

std::vector<std::optional<model::RunRecord>> Reads::runs_at(model::TenantId tenant, std::span<const model::RecordKey> keys) {
  return read_each(kRunsAt, tenant, keys,
                   [&](const Rows& rows, std::size_t row, const model::RecordKey&) { return run_in(rows, row, 1, tenant); });
}

std::vector<std::optional<model::FailureRecord>> Reads::failures_at(model::TenantId tenant, std::span<const model::RecordKey> keys) {
  return read_each(kFailuresAt, tenant, keys, [&](const Rows& rows, std::size_t row, const model::RecordKey& key) {
    return failure_in(rows, row, 1, {tenant, key});
  });
}

std::vector<std::string> Reads::events(model::TenantId tenant, const model::RecordKey& run, std::uint32_t from) {
  const Rows rows = pool_.read([&](Connection& connection) {
    return connection.query("SELECT first, body FROM runwarden.event WHERE tenant = $1 AND time_ms = $2 AND seq = $3 ORDER BY first",
                            by_key(tenant, run));
  });
  std::vector<std::string> events;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::int64_t first = rows.number(row, 0);
    const KeyBytes key = events_place({tenant, run}, first);
    try {
      std::int64_t index = index_of(first);
      for (std::string& event : decoded("event", key, [&] { return decode_events(key, rows.bytes(row, 1)); })) {
        if (index++ >= from && !event.empty()) events.push_back(std::move(event));
      }
    } catch (const StoreError& bad) {
      if (rules_.on_unreadable) rules_.on_unreadable(bad.what());
    }
  }
  return events;
}

std::optional<Replay> Reads::find_replay(model::TenantId tenant, const model::Digest& identity) {
  const std::string_view name(reinterpret_cast<const char*>(identity.data()), identity.size());
  return pool_.read([&](Connection& connection) -> std::optional<Replay> {
    const Rows found = connection.query(
        "SELECT time_ms, seq, kind, revision, created_ms, content, answer FROM runwarden.idempotency WHERE tenant = $1 AND identity = $2",
        std::move(Params().i32(static_cast<std::int32_t>(tenant)).bytes(name)));
    if (found.empty() || found.number(0, 4) + rules_.keep_idempotency_ms <= clock_.now_ms()) return std::nullopt;
    const model::RecordKey at = record_key(found, 0, 0);
    const KeyBytes key = place_key(tenant, at);
    Replay replay;
    replay.content = decoded("idempotency", name, [&] { return digest_in(found.bytes(0, 5), "content"); });
    const auto kind = static_cast<IdempotentAnswer::Kind>(found.number(0, 2));
    // The write itself finds it and answers with its subject's current state.
    if (kind == IdempotentAnswer::Kind::triage || kind == IdempotentAnswer::Kind::review) return std::nullopt;
    if (kind == IdempotentAnswer::Kind::change || kind == IdempotentAnswer::Kind::policy) {
      const Rows rows = connection.query(kind == IdempotentAnswer::Kind::change ? kChangeAt : kPolicyAt, by_key(tenant, at));
      if (rows.empty()) return std::nullopt;
      if (kind == IdempotentAnswer::Kind::change) {
        replay.change = decoded("change", key, [&] { return decode_change(key, rows.bytes(0, 0)); });
      } else {
        replay.policy = decoded("policy", key, [&] { return decode_policy(key, rows.bytes(0, 0)); });
      }
      return replay;
    }
    if (kind == IdempotentAnswer::Kind::events) {
      if (found.is_null(0, 6)) throw StoreError(unreadable_text("idempotency", name, "its answer is missing"));
      replay.buffered = decoded("idempotency", key, [&] { return decode_answer(key, found.bytes(0, 6)).buffered; });
      auto run = run_of(connection.query(kRunAt, by_key(tenant, at)), tenant);
      if (!run) return std::nullopt;
      replay.run = std::move(*run);
      return replay;
    }
    auto run =
        run_of(connection.query(kAnsweredRun, std::move(by_key(tenant, at).i32(static_cast<std::int32_t>(found.number(0, 3))))), tenant);
    if (!run) return std::nullopt;
    replay.run = std::move(*run);
    return replay;
  });
}

Page<model::RunRecord> Reads::runs(model::TenantId tenant, const RunQuery& query) {
  if (!is_text(query.detector)) return {};
  std::string sql = kSelectHead + " FROM runwarden.run r" + in_range("r");
  if (query.state) sql += *query.state == model::RunState::open ? " AND r.state = 0" : " AND r.state = 1";
  const bool by_score = query.min_score.value_or(0) > 0;
  if (query.min_score) sql += " AND r.fired <> '{}'";
  if (by_score) sql += " AND r.max_score > 0 AND r.max_score >= $7";
  if (query.source) sql += *query.source == model::RunSource::client ? " AND r.source = 0" : " AND r.source = 1";
  if (!query.detector.empty()) sql += by_score ? " AND $8 = ANY(r.fired)" : " AND $7 = ANY(r.fired)";
  if (!query.detector.empty() && by_score) {
    sql +=
        " AND EXISTS (SELECT FROM runwarden.failure f WHERE f.tenant = r.tenant AND f.run_time_ms = r.time_ms AND f.run_seq = r.seq"
        " AND NOT f.shadow AND f.score >= $7 AND f.detector = $8)";
  }
  sql += newest_first("r");
  const auto more_params = [&](Params& params) {
    if (by_score) params.i16(static_cast<std::int16_t>(std::min(*query.min_score, 1000)));
    if (!query.detector.empty()) params.text(query.detector);
  };
  PageFilling<model::RunRecord> page(query.range);
  scan_back({pool_, sql, tenant, query.range, kManyRows, rules_.on_unreadable}, more_params,
            [&](const Rows& rows, std::size_t row, const model::RecordKey&) {
              model::RunRecord run = sized_head(rows, row, 0, {tenant, query.outlines});
              if (query.outlines == OutlineToo::yes) run.json_bytes = outline_bytes(run);
              const std::uint64_t bytes = run.json_bytes;
              if (!page.has_room(bytes)) return false;
              page.add(std::move(run), bytes);
              return true;
            });
  return page.take();
}

Page<model::FailureRecord> Reads::failures(model::TenantId tenant, const FailureQuery& query) {
  if (!is_text(query.run_id) || !is_text(query.detector)) return {};
  std::optional<model::RecordKey> run;
  if (!query.run_id.empty()) {
    const Rows place = pool_.read([&](Connection& connection) {
      return connection.query(kPlace + (std::string("SELECT r.time_ms, r.seq") + kRunAtPlace), by_run_id(tenant, query.run_id));
    });
    if (place.empty()) return {};
    run = record_key(place, 0, 0);
  }
  const std::string sql = list_of_failures(query, run);
  const auto more_params = [&](Params& params) { add_failure_params(params, query, run); };
  PageFilling<model::FailureRecord> page(query.range);
  scan_back({pool_, sql, tenant, query.range, kFewRows, rules_.on_unreadable}, more_params,
            [&](const Rows& rows, std::size_t row, const model::RecordKey& at) {
              const KeyBytes key = place_key(tenant, at);
              model::FailureRecord failure = decoded("failure", key, [&] { return decode_failure(key, rows.bytes(row, 2)); });
              if (!fits(query, failure)) return true;
              failure.shadow = query.shadow;
              read_review(rows, row, 3, tenant, failure);
              const std::uint64_t bytes = failure.json.size() + failure.review.size() + 1;
              if (!page.has_room(bytes)) return false;
              page.add(std::move(failure), bytes);
              return true;
            });
  return page.take();
}

Page<model::ChangeRecord> Reads::changes(model::TenantId tenant, const ChangeQuery& query) {
  if (!is_text(query.kind)) return {};
  std::string sql =
      "SELECT c.time_ms, c.seq, c.body, CASE WHEN c.kind = 'policy' THEN"
      " (SELECT p.body FROM runwarden.policy p WHERE p.tenant = c.tenant AND p.time_ms = c.time_ms AND p.seq = c.seq) END FROM "
      "runwarden.change c" +
      in_range("c");
  if (!query.kind.empty()) sql += " AND c.kind = $7";
  sql += newest_first("c");
  const auto more_params = [&](Params& params) {
    if (!query.kind.empty()) params.text(query.kind);
  };
  PageFilling<model::ChangeRecord> page(query.range);
  scan_back({pool_, sql, tenant, query.range, kFewRows, rules_.on_unreadable}, more_params,
            [&](const Rows& rows, std::size_t row, const model::RecordKey& at) {
              const KeyBytes key = place_key(tenant, at);
              model::ChangeRecord change = decoded("change", key, [&] { return decode_change(key, rows.bytes(row, 2)); });
              if (!rows.is_null(row, 3)) change.policy = decoded("policy", key, [&] { return decode_policy(key, rows.bytes(row, 3)); });
              const std::uint64_t bytes = kOwnChangeBytes + change.document.size() + (change.policy ? change.policy->document.size() : 0);
              if (!page.has_room(bytes)) return false;
              page.add(std::move(change), bytes);
              return true;
            });
  return page.take();
}

Page<model::PolicyRecord> Reads::policies(model::TenantId tenant, const PolicyQuery& query) {
  if (!is_text(query.policy)) return {};
  std::string sql = "SELECT p.time_ms, p.seq, p.body FROM runwarden.policy p" + in_range("p");
  if (!query.policy.empty()) sql += " AND p.policy = $7";
  sql += newest_first("p");
  const auto more_params = [&](Params& params) {
    if (!query.policy.empty()) params.text(query.policy);
  };
  PageFilling<model::PolicyRecord> page(query.range);
  scan_back({pool_, sql, tenant, query.range, kFewRows, rules_.on_unreadable}, more_params,
            [&](const Rows& rows, std::size_t row, const model::RecordKey& at) {
              const KeyBytes key = place_key(tenant, at);
              model::PolicyRecord policy = decoded("policy", key, [&] { return decode_policy(key, rows.bytes(row, 2)); });
              const std::uint64_t bytes = kOwnChangeBytes + policy.document.size();
              if (!page.has_room(bytes)) return false;
              page.add(std::move(policy), bytes);
              return true;
            });
  return page.take();
}

std::vector<LookedUp> Reads::look_up(std::span<const LookUp> asked) {
  const LookUpColumns columns(asked);
  const std::vector<Connection::Statement> statements = columns.statements();
  const std::vector<Rows> answers = pool_.read([&](Connection& connection) { return connection.run(statements); });
  std::vector<LookedUp> known(asked.size());
  std::size_t next = LookUpColumns::kPoliciesAt + 1;
  const auto note = [&](const std::vector<std::size_t>& of, bool LookedUp::*found) {
    if (of.empty()) return;
    for (const std::size_t i : of) known[i].*found = false;
    const Rows& rows = answers[next++];
    for (std::size_t row = 0; row < rows.size(); ++row) known[of[static_cast<std::size_t>(rows.number(row, 0)) - 1]].*found = true;
  };
  note(columns.run_ids.of, &LookedUp::has_run);
  note(columns.identities.of, &LookedUp::has_identity);
  take_policies(answers[LookUpColumns::kPoliciesAt], known);
  return known;
}

std::optional<model::PolicyRecord> Reads::policy_at(model::TenantId tenant, std::string_view policy, std::int64_t at_ms) {
  if (!is_text(policy)) return std::nullopt;
  const Rows rows = pool_.read([&](Connection& connection) {
    return connection.query(
        "SELECT time_ms, seq, body FROM runwarden.policy WHERE tenant = $1 AND policy = $2 AND time_ms <= $3 ORDER BY time_ms DESC, seq "
        "DESC LIMIT 1",
        std::move(Params().i32(static_cast<std::int32_t>(tenant)).text(policy).i64(at_ms)));
  });
  if (rows.empty()) return std::nullopt;
  const KeyBytes key = place_key(tenant, record_key(rows, 0, 0));
  return decoded("policy", key, [&] { return decode_policy(key, rows.bytes(0, 2)); });
}

std::vector<model::PolicyRecord> Reads::policies_at(model::TenantId tenant, std::int64_t at_ms) {
  const Rows rows = pool_.read([&](Connection& connection) {
    return connection.query(
        "SELECT DISTINCT ON (policy) time_ms, seq, body FROM runwarden.policy WHERE tenant = $1 AND time_ms <= $2 ORDER BY policy, time_ms "
        "DESC, seq DESC",
        std::move(Params().i32(static_cast<std::int32_t>(tenant)).i64(at_ms)));
  });
  std::vector<model::PolicyRecord> policies;
  policies.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const KeyBytes key = place_key(tenant, record_key(rows, row, 0));
    policies.push_back(decoded("policy", key, [&] { return decode_policy(key, rows.bytes(row, 2)); }));
  }
  return policies;
}

FingerprintStats Reads::fingerprint_stats(model::TenantId tenant, std::string_view fingerprint) {
  const Rows rows = pool_.read([&](Connection& connection) {
    return connection.query(
        "SELECT count(*), coalesce(min(time_ms), 0), coalesce(max(time_ms), 0) FROM runwarden.failure WHERE tenant = $1 AND fingerprint = "
        "$2 AND NOT shadow AND NOT false_alarm",
        std::move(Params().i32(static_cast<std::int32_t>(tenant)).bytes(view(model::cluster_key(fingerprint)))));
  });
  return {static_cast<std::uint64_t>(rows.number(0, 0)), rows.number(0, 1), rows.number(0, 2)};
}

std::uint64_t Reads::count_failures(model::TenantId tenant, std::string_view fingerprint, std::int64_t from_ms, std::int64_t before_ms) {
  return pool_.read([&](Connection& connection) {
    const Rows rows = connection.query(
        "SELECT count(*) FROM runwarden.failure WHERE tenant = $1 AND fingerprint = $2 AND NOT shadow AND NOT false_alarm AND time_ms >= "
        "$3 AND time_ms < $4",
        std::move(
            Params().i32(static_cast<std::int32_t>(tenant)).bytes(view(model::cluster_key(fingerprint))).i64(from_ms).i64(before_ms)));
    return static_cast<std::uint64_t>(rows.number(0, 0));
  });
}

std::uint64_t Reads::count_runs(model::TenantId tenant, std::int64_t from_ms, std::int64_t before_ms) {
  return pool_.read([&](Connection& connection) {
    const Rows rows = connection.query("SELECT count(*) FROM runwarden.run WHERE tenant = $1 AND time_ms >= $2 AND time_ms < $3",
                                       std::move(Params().i32(static_cast<std::int32_t>(tenant)).i64(from_ms).i64(before_ms)));
    return static_cast<std::uint64_t>(rows.number(0, 0));
  });
}

std::optional<model::RunRecord> Reads::canary(std::string_view host) {
  const Rows rows = pool_.read([&](Connection& connection) {
    return connection.query("SELECT body FROM runwarden.canary WHERE name = $1", std::move(Params().text(host)));
  });
  if (rows.empty()) return std::nullopt;
  const KeyBytes key = place_key(0, {});
  return decoded("canary", key, [&] { return std::move(decode_run(key, rows.bytes(0, 0)).run); });
}

}  // namespace runwarden::store::postgres
