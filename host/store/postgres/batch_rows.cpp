#include "store/postgres/batch_rows.h"

#include <algorithm>
#include <limits>

#include "model/cluster.h"
#include "store/key_encoding.h"
#include "store/postgres/reviews.h"
#include "store/postgres/row.h"

namespace runwarden::store::postgres {
namespace {

constexpr std::string_view kMoveHeads =
    "UPDATE runwarden.head h SET time_ms = u.time_ms, seq = u.seq FROM unnest($1::int[], $2::text[], $3::bigint[], $4::bigint[]) u(tenant, run_id, time_ms, seq)"
    " WHERE h.tenant = u.tenant AND h.run_id = u.run_id";
constexpr std::string_view kDeleteHeads =
    "DELETE FROM runwarden.head h USING unnest($1::int[], $2::text[]) u(tenant, run_id) WHERE h.tenant = u.tenant AND h.run_id = u.run_id";
// The detectors that fired come as one text, with a separator that no detector key contains.
constexpr std::string_view kInsertRuns =
    "INSERT INTO runwarden.run(tenant, time_ms, seq, run_id, revision, state, source, max_score, fired, content, body)"
    " SELECT tenant, time_ms, seq, run_id, revision, state, source, max_score, string_to_array(fired, chr(31)), content, body"
    " FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], $5::int[], $6::smallint[], $7::smallint[], $8::smallint[], $9::text[], $10::bytea[],"
    " $11::bytea[]) u(tenant, time_ms, seq, run_id, revision, state, source, max_score, fired, content, body)";
constexpr std::string_view kUpdateRuns =
    "UPDATE runwarden.run r SET revision = u.revision, state = u.state, max_score = u.max_score, fired = string_to_array(u.fired, chr(31)),"
    " content = u.content, body = u.body FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], $5::int[], $6::smallint[], $7::smallint[],"
    " $8::smallint[], $9::text[], $10::bytea[], $11::bytea[]) u(tenant, time_ms, seq, run_id, revision, state, source, max_score, fired, content, body)"
    " WHERE r.tenant = u.tenant AND r.time_ms = u.time_ms AND r.seq = u.seq";
constexpr std::string_view kInsertOpen =
    "INSERT INTO runwarden.open_run(tenant, run_id, time_ms, seq, revision, first_ms, last_ms, total, former, bytes, ending, cut, tail_final, token,"
    " due_ms, awaits, root_ms, body)"
    " SELECT tenant, run_id, time_ms, seq, revision, first_ms, last_ms, total, former, bytes, nullif(ending, -1::smallint), nullif(cut, -1),"
    " tail_final <> 0, token, due_ms, awaits, nullif(root_ms, -9223372036854775808), body"
    " FROM unnest($1::int[], $2::text[], $3::bigint[], $4::bigint[], $5::int[], $6::bigint[], $7::bigint[], $8::int[], $9::int[], $10::bigint[],"
    " $11::smallint[], $12::int[], $13::smallint[], $14::bigint[], $15::bigint[], $16::smallint[], $17::bigint[], $18::bytea[])"
    " u(tenant, run_id, time_ms, seq, revision, first_ms, last_ms, total, former, bytes, ending, cut, tail_final, token, due_ms, awaits, root_ms, body)";
constexpr std::string_view kUpdateOpen =
    "UPDATE runwarden.open_run o SET time_ms = u.time_ms, seq = u.seq, revision = u.revision, first_ms = u.first_ms, last_ms = u.last_ms, total = u.total,"
    " former = u.former, bytes = u.bytes, ending = nullif(u.ending, -1::smallint), cut = nullif(u.cut, -1), tail_final = u.tail_final <> 0,"
    " token = u.token, due_ms = u.due_ms, awaits = u.awaits, root_ms = nullif(u.root_ms, -9223372036854775808), body = u.body"
    " FROM unnest($1::int[], $2::text[], $3::bigint[], $4::bigint[], $5::int[], $6::bigint[], $7::bigint[], $8::int[], $9::int[], $10::bigint[],"
    " $11::smallint[], $12::int[], $13::smallint[], $14::bigint[], $15::bigint[], $16::smallint[], $17::bigint[], $18::bytea[])"
    " u(tenant, run_id, time_ms, seq, revision, first_ms, last_ms, total, former, bytes, ending, cut, tail_final, token, due_ms, awaits, root_ms, body)"
    " WHERE o.tenant = u.tenant AND o.run_id = u.run_id";
constexpr std::string_view kDeleteOpen =
    "DELETE FROM runwarden.open_run o USING unnest($1::int[], $2::text[]) u(tenant, run_id) WHERE o.tenant = u.tenant AND o.run_id = u.run_id";
constexpr std::string_view kInsertPrevious =
    "INSERT INTO runwarden.former(tenant, time_ms, seq, revision, body) SELECT * FROM unnest($1::int[], $2::bigint[], $3::bigint[], "
    "$4::int[], $5::bytea[])";
constexpr std::string_view kInsertEvents =
    "INSERT INTO runwarden.event(tenant, time_ms, seq, first, count, received_ms, bytes, body)"
    " SELECT * FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::int[], $5::int[], $6::bigint[], $7::bigint[], $8::bytea[])";
constexpr std::string_view kInsertEventIds =
    "INSERT INTO runwarden.event_id(tenant, time_ms, seq, half) SELECT * FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::bytea[])";
constexpr std::string_view kDeleteEventIds =
    "DELETE FROM runwarden.event_id e USING unnest($1::int[], $2::bigint[], $3::bigint[], $4::bytea[]) u(tenant, time_ms, seq, half)"
    " WHERE e.tenant = u.tenant AND e.time_ms = u.time_ms AND e.seq = u.seq AND e.half = u.half";
constexpr std::string_view kDeleteFailures =
    "DELETE FROM runwarden.failure f USING unnest($1::int[], $2::bigint[], $3::bigint[]) u(tenant, time_ms, seq)"
    " WHERE f.tenant = u.tenant AND f.time_ms = u.time_ms AND f.seq = u.seq";
constexpr std::string_view kInsertFailures =
    "INSERT INTO runwarden.failure(tenant, time_ms, seq, run_time_ms, run_seq, detector, severity, score, shadow, fingerprint, body)"
    " SELECT tenant, time_ms, seq, run_time_ms, run_seq, detector, severity, score, shadow <> 0, fingerprint, body"
    " FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::smallint[], $8::smallint[], $9::smallint[],"
    " $10::bytea[], $11::bytea[]) u(tenant, time_ms, seq, run_time_ms, run_seq, detector, severity, score, shadow, fingerprint, body)";
constexpr std::string_view kSetVerdicts =
    "UPDATE runwarden.failure f SET reviewed = u.reviewed, body = u.body FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::smallint[], $5::bytea[])"
    " u(tenant, time_ms, seq, reviewed, body) WHERE f.tenant = u.tenant AND f.time_ms = u.time_ms AND f.seq = u.seq";
constexpr std::string_view kInsertReviews =
    "INSERT INTO runwarden.review(tenant, time_ms, seq, run_time_ms, run_seq, subject, failure_ms, failure_seq, detector, version, "
    "settings, verdict, body, of_candidate)"
    " SELECT tenant, time_ms, seq, run_time_ms, run_seq, subject, CASE WHEN of_failure <> 0 THEN failure_ms END, CASE WHEN of_failure <> 0 "
    "THEN failure_seq END,"
    " detector, version, settings, verdict, body, of_candidate <> 0 FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::bigint[], "
    "$5::bigint[], $6::bytea[], $7::smallint[],"
    " $8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::text[], $13::smallint[], $14::bytea[], $15::smallint[])"
    " u(tenant, time_ms, seq, run_time_ms, run_seq, subject, of_failure, failure_ms, failure_seq, detector, version, settings, verdict, "
    "body, of_candidate)";
constexpr std::string_view kDeleteOpinionsOfRuns =
    "DELETE FROM runwarden.opinion o USING unnest($1::int[], $2::bigint[], $3::bigint[]) u(tenant, time_ms, seq)"
    " WHERE o.tenant = u.tenant AND o.run_time_ms = u.time_ms AND o.run_seq = u.seq";
constexpr std::string_view kDeleteOpinions =
    "DELETE FROM runwarden.opinion o USING unnest($1::int[], $2::bigint[], $3::bigint[]) u(tenant, time_ms, seq)"
    " WHERE o.tenant = u.tenant AND o.time_ms = u.time_ms AND o.seq = u.seq";
constexpr std::string_view kInsertOpinions =
    "INSERT INTO runwarden.opinion(tenant, time_ms, seq, run_time_ms, run_seq, detector, of_alarm, state, due_ms, token, body)"
    " SELECT tenant, time_ms, seq, run_time_ms, run_seq, detector, of_alarm <> 0, state, due_ms, token, body"
    " FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::smallint[], $8::smallint[], $9::bigint[], $10::bigint[],"
    " $11::bytea[]) u(tenant, time_ms, seq, run_time_ms, run_seq, detector, of_alarm, state, due_ms, token, body)";
constexpr std::string_view kUpdateOpinions =
    "UPDATE runwarden.opinion o SET state = u.state, due_ms = u.due_ms, token = u.token, body = u.body"
    " FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::smallint[], $8::smallint[], $9::bigint[], $10::bigint[],"
    " $11::bytea[]) u(tenant, time_ms, seq, run_time_ms, run_seq, detector, of_alarm, state, due_ms, token, body)"
    " WHERE o.tenant = u.tenant AND o.time_ms = u.time_ms AND o.seq = u.seq";
constexpr std::string_view kInsertChanges =
    "INSERT INTO runwarden.change(tenant, time_ms, seq, kind, received_ms, body)"
    " SELECT * FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bytea[])";
constexpr std::string_view kInsertPolicies =
    "INSERT INTO runwarden.policy(tenant, policy, revision, time_ms, seq, author, content, received_ms, body)"
    " SELECT * FROM unnest($1::int[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::bytea[], $8::bigint[], $9::bytea[])";
constexpr std::string_view kRaiseHighest =
    "UPDATE runwarden.policy_head h SET highest = u.highest::numeric FROM unnest($1::int[], $2::text[], $3::text[]) u(tenant, policy, highest)"
    " WHERE h.tenant = u.tenant AND h.policy = u.policy";
constexpr std::string_view kPutCanary =
    "INSERT INTO runwarden.canary(name, time_ms, body) VALUES ($1, $2, $3)"
    " ON CONFLICT (name) DO UPDATE SET time_ms = excluded.time_ms, body = excluded.body";
constexpr std::string_view kDeleteAnswers =
    "DELETE FROM runwarden.idempotency i USING unnest($1::int[], $2::bytea[]) u(tenant, identity) WHERE i.tenant = u.tenant AND i.identity = u.identity";
constexpr std::string_view kInsertAnswers =
    "INSERT INTO runwarden.idempotency(tenant, identity, content, created_ms, kind, time_ms, seq, revision, answer)"
    " SELECT tenant, identity, content, created_ms, kind, time_ms, seq, revision, CASE WHEN kind = 1 THEN answer END"
    " FROM unnest($1::int[], $2::bytea[], $3::bytea[], $4::bigint[], $5::smallint[], $6::bigint[], $7::bigint[], $8::int[], $9::bytea[])"
    " u(tenant, identity, content, created_ms, kind, time_ms, seq, revision, answer)";
constexpr std::string_view kNotePolicies =
    "WITH v AS (UPDATE runwarden.counter SET value = value + 1 WHERE name = 'note' RETURNING value)"
    " INSERT INTO runwarden.note(what, tenant, version) SELECT 2, u.tenant, v.value FROM v, unnest($1::int[]) u(tenant)"
    " ON CONFLICT (what, tenant) DO UPDATE SET version = excluded.version RETURNING version";

static_assert(static_cast<int>(IdempotentAnswer::Kind::events) == 1, "kInsertAnswers names it");

constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

// The values that `get` returns for the rows.
template <class Value, class Row, class Get>
std::vector<Value> column(const std::vector<Row>& rows, Get get) {
  std::vector<Value> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(static_cast<Value>(get(row)));
  return values;
}
template <class Row, class Get>
std::vector<std::int16_t> shorts(const std::vector<Row>& rows, Get get) {
  return column<std::int16_t>(rows, get);
}
template <class Row, class Get>
std::vector<std::int32_t> ints(const std::vector<Row>& rows, Get get) {
  return column<std::int32_t>(rows, get);
}
template <class Row, class Get>
std::vector<std::int64_t> bigs(const std::vector<Row>& rows, Get get) {
  return column<std::int64_t>(rows, get);
}
template <class Row, class Get>
std::vector<std::string_view> texts(const std::vector<Row>& rows, Get get) {
  return column<std::string_view>(rows, get);
}

template <class Row>
Params by_place(const std::vector<Row>& rows) {
  return std::move(Params()
                       .i32s(ints(rows, [](const Row& row) { return row.place.tenant; }))
                       .i64s(bigs(rows, [](const Row& row) { return row.place.key.time_ms; }))
                       .i64s(bigs(rows, [](const Row& row) { return row.place.key.seq; })));
}

Params by_name(const std::vector<RunName>& names) {
  return std::move(Params()
                       .i32s(ints(names, [](const RunName& name) { return name.tenant; }))
                       .texts(texts(names, [](const RunName& name) { return std::string_view(name.run_id); })));
}

Params params_of(const std::vector<HeadRow>& rows) {
  return std::move(Params()
                       .i32s(ints(rows, [](const HeadRow& row) { return row.name.tenant; }))
                       .texts(texts(rows, [](const HeadRow& row) { return std::string_view(row.name.run_id); }))
                       .i64s(bigs(rows, [](const HeadRow& row) { return row.place.time_ms; }))
                       .i64s(bigs(rows, [](const HeadRow& row) { return row.place.seq; })));
}

std::string joined(const std::vector<std::string>& fired) {
  std::string text;
  for (const std::string& one : fired) {
    if (!text.empty()) text += '\x1f';
    text += one;
  }
  return text;
}

Params params_of(const std::vector<RunRow>& rows) {
  return std::move(by_place(rows)
                       .texts(texts(rows, [](const RunRow& row) { return row.run_id; }))
                       .i32s(ints(rows, [](const RunRow& row) { return row.revision; }))
                       .i16s(shorts(rows, [](const RunRow& row) { return row.state; }))
                       .i16s(shorts(rows, [](const RunRow& row) { return row.source; }))
                       .i16s(shorts(rows, [](const RunRow& row) { return row.max_score; }))
                       .texts(std::span<const std::string>(column<std::string>(rows, [](const RunRow& row) { return joined(row.fired); })))
                       .byteas(texts(rows, [](const RunRow& row) { return view(row.content); }))
                       .byteas(texts(rows, [](const RunRow& row) { return row.body; })));
}

Params params_of(const std::vector<OpenRunRow>& rows) {
  return std::move(
      Params()
          .i32s(ints(rows, [](const OpenRunRow& row) { return row.name.tenant; }))
          .texts(texts(rows, [](const OpenRunRow& row) { return std::string_view(row.name.run_id); }))
          .i64s(bigs(rows, [](const OpenRunRow& row) { return row.place.time_ms; }))
          .i64s(bigs(rows, [](const OpenRunRow& row) { return row.place.seq; }))
          .i32s(ints(rows, [](const OpenRunRow& row) { return row.revision; }))
          .i64s(bigs(rows, [](const OpenRunRow& row) { return row.activity.first_ms; }))
          .i64s(bigs(rows, [](const OpenRunRow& row) { return row.activity.last_ms; }))
          .i32s(ints(rows, [](const OpenRunRow& row) { return row.buffering.total; }))
          .i32s(ints(rows, [](const OpenRunRow& row) { return row.buffering.previous; }))
          .i64s(bigs(rows, [](const OpenRunRow& row) { return row.buffering.bytes; }))
          .i16s(shorts(rows, [](const OpenRunRow& row) { return row.buffering.ending ? static_cast<int>(*row.buffering.ending) : -1; }))
          .i32s(ints(rows, [](const OpenRunRow& row) { return row.buffering.ending ? static_cast<std::int32_t>(row.buffering.cut) : -1; }))
          .i16s(shorts(rows, [](const OpenRunRow& row) { return row.buffering.tail_final ? 1 : 0; }))
          .i64s(bigs(rows, [](const OpenRunRow& row) { return row.token; }))
          .i64s(bigs(rows, [](const OpenRunRow& row) { return row.due_ms; }))
          .i16s(shorts(rows, [](const OpenRunRow& row) { return row.activity.awaits; }))
          .i64s(bigs(rows, [](const OpenRunRow& row) { return row.activity.root_ms.value_or(kNoTime); }))
          .byteas(texts(rows, [](const OpenRunRow& row) { return row.body; })));
}

Params params_of(const std::vector<PreviousRow>& rows) {
  return std::move(
      by_place(rows).i32s(ints(rows, [](const PreviousRow& row) { return row.revision; })).byteas(texts(rows, [](const PreviousRow& row) {
        return std::string_view(row.body);
      })));
}

Params params_of(const std::vector<EventRow>& rows) {
  return std::move(by_place(rows)
                       .i32s(ints(rows, [](const EventRow& row) { return row.first; }))
                       .i32s(ints(rows, [](const EventRow& row) { return row.count; }))
                       .i64s(bigs(rows, [](const EventRow& row) { return row.received_ms; }))
                       .i64s(bigs(rows, [](const EventRow& row) { return row.bytes; }))
                       .byteas(texts(rows, [](const EventRow& row) { return std::string_view(row.body); })));
}

Params params_of(const std::vector<EventIdRow>& rows) {
  return std::move(by_place(rows).byteas(texts(rows, [](const EventIdRow& row) { return std::string_view(row.half); })));
}

Params params_of(const std::vector<FailureRow>& rows) {
  const auto halves = column<model::ClusterKey>(rows, [](const FailureRow& row) { return model::cluster_key(row.failure->fingerprint); });
  return std::move(by_place(rows)
                       .i64s(bigs(rows, [](const FailureRow& row) { return row.failure->run.time_ms; }))
                       .i64s(bigs(rows, [](const FailureRow& row) { return row.failure->run.seq; }))
                       .texts(texts(rows, [](const FailureRow& row) { return std::string_view(row.failure->detector_key); }))
                       .i16s(shorts(rows, [](const FailureRow& row) { return row.failure->severity; }))
                       .i16s(shorts(rows, [](const FailureRow& row) { return row.failure->score; }))
                       .i16s(shorts(rows, [](const FailureRow& row) { return row.failure->shadow ? 1 : 0; }))
                       .byteas(texts(halves, [](const model::ClusterKey& half) { return std::string_view(half.data(), half.size()); }))
                       .byteas(texts(rows, [](const FailureRow& row) { return row.body; })));
}

Params params_of(const std::vector<VerdictRow>& rows) {
  return std::move(by_place(rows)
                       .i16s(shorts(rows, [](const VerdictRow& row) { return row.verdict; }))
                       .byteas(texts(rows, [](const VerdictRow& row) { return row.body; })));
}

Params params_of(const std::vector<ReviewRow>& rows) {
  const auto subjects = column<std::string>(rows, [](const ReviewRow& row) { return subject_of(*row.review); });
  const auto failures = column<std::optional<model::RecordKey>>(rows, [](const ReviewRow& row) { return reviewed_failure(*row.review); });
  using Failure = std::optional<model::RecordKey>;
  return std::move(by_place(rows)
                       .i64s(bigs(rows, [](const ReviewRow& row) { return row.review->run.time_ms; }))
                       .i64s(bigs(rows, [](const ReviewRow& row) { return row.review->run.seq; }))
                       .byteas(std::span<const std::string>(subjects))
                       .i16s(shorts(failures, [](const Failure& failure) { return failure ? 1 : 0; }))
                       .i64s(bigs(failures, [](const Failure& failure) { return failure ? failure->time_ms : 0; }))
                       .i64s(bigs(failures, [](const Failure& failure) { return failure ? failure->seq : 0; }))
                       .texts(texts(rows, [](const ReviewRow& row) { return std::string_view(row.review->detector_key); }))
                       .texts(texts(rows, [](const ReviewRow& row) { return std::string_view(row.review->detector_version); }))
                       .texts(texts(rows, [](const ReviewRow& row) { return std::string_view(row.review->settings_hash); }))
                       .i16s(shorts(rows, [](const ReviewRow& row) { return row.review->verdict; }))
                       .byteas(texts(rows, [](const ReviewRow& row) { return std::string_view(row.body); }))
                       .i16s(shorts(rows, [](const ReviewRow& row) { return row.review->of_candidate ? 1 : 0; })));
}

Params params_of(const std::vector<OpinionRow>& rows) {
  return std::move(by_place(rows)
                       .i64s(bigs(rows, [](const OpinionRow& row) { return row.opinion->run.time_ms; }))
                       .i64s(bigs(rows, [](const OpinionRow& row) { return row.opinion->run.seq; }))
                       .texts(texts(rows, [](const OpinionRow& row) { return std::string_view(row.opinion->detector_key); }))
                       .i16s(shorts(rows, [](const OpinionRow& row) { return row.opinion->of_alarm ? 1 : 0; }))
                       .i16s(shorts(rows, [](const OpinionRow& row) { return row.opinion->state; }))
                       .i64s(bigs(rows, [](const OpinionRow& row) { return row.opinion->due_ms; }))
                       .i64s(bigs(rows, [](const OpinionRow& row) { return row.opinion->token; }))
                       .byteas(texts(rows, [](const OpinionRow& row) { return std::string_view(row.body); })));
}

Params params_of(const std::vector<ChangeRow>& rows) {
  return std::move(by_place(rows)
                       .texts(texts(rows, [](const ChangeRow& row) { return std::string_view(row.kind); }))
                       .i64s(bigs(rows, [](const ChangeRow& row) { return row.received_ms; }))
                       .byteas(texts(rows, [](const ChangeRow& row) { return std::string_view(row.body); })));
}

Params params_of(const std::vector<PolicyRow>& rows) {
  return std::move(Params()
                       .i32s(ints(rows, [](const PolicyRow& row) { return row.place.tenant; }))
                       .texts(texts(rows, [](const PolicyRow& row) { return std::string_view(row.policy.policy); }))
                       .texts(texts(rows, [](const PolicyRow& row) { return std::string_view(row.policy.revision); }))
                       .i64s(bigs(rows, [](const PolicyRow& row) { return row.place.key.time_ms; }))
                       .i64s(bigs(rows, [](const PolicyRow& row) { return row.place.key.seq; }))
                       .texts(std::span<const std::string>(
                           column<std::string>(rows, [](const PolicyRow& row) { return column_text(row.policy.author); })))
                       .byteas(texts(rows, [](const PolicyRow& row) { return view(row.policy.content); }))
                       .i64s(bigs(rows, [](const PolicyRow& row) { return row.policy.received_ms; }))
                       .byteas(texts(rows, [](const PolicyRow& row) { return std::string_view(row.body); })));
}

Params params_of(const std::vector<std::pair<PolicyName, std::string>>& rows) {
  using Row = std::pair<PolicyName, std::string>;
  return std::move(Params()
                       .i32s(ints(rows, [](const Row& row) { return row.first.tenant; }))
                       .texts(texts(rows, [](const Row& row) { return std::string_view(row.first.policy); }))
                       .texts(texts(rows, [](const Row& row) { return std::string_view(row.second); })));
}

struct PlaceRow {
  TenantKey place;
};
Params params_of(const std::vector<TenantKey>& places) {
  return by_place(column<PlaceRow>(places, [](const TenantKey& place) { return PlaceRow{place}; }));
}

}  // namespace

void add_statements(std::vector<Connection::Statement>& to, const BatchRows& rows) {
  const auto add = [&](std::string_view sql, const auto& of) {
    if (!of.empty()) to.push_back({sql, params_of(of)});
  };
  const auto add_named = [&](std::string_view sql, const std::vector<RunName>& names) {
    if (!names.empty()) to.push_back({sql, by_name(names)});
  };
  add(kMoveHeads, rows.moved_heads);
  add_named(kDeleteHeads, rows.unused_heads);
  add(kInsertRuns, rows.new_runs);
  add(kUpdateRuns, rows.changed_runs);
  add(kInsertOpen, rows.opened);
  add(kUpdateOpen, rows.changed_open);
  add_named(kDeleteOpen, rows.ended);
  add(kInsertPrevious, rows.previous);
  add(kInsertEvents, rows.events);
  add(kInsertEventIds, rows.event_ids);
  add(kDeleteEventIds, rows.unused_event_ids);
  add(kDeleteFailures, rows.gone_failures);
  add(kInsertFailures, rows.failures);
  add(kSetVerdicts, rows.verdicts);
  add(kInsertReviews, rows.reviews);
  add(kDeleteOpinionsOfRuns, rows.without_opinions);
  add(kDeleteOpinions, rows.gone_opinions);
  add(kInsertOpinions, rows.opinions);
  add(kUpdateOpinions, rows.changed_opinions);
  add(kInsertChanges, rows.changes);
  add(kInsertPolicies, rows.policies);
  add(kRaiseHighest, rows.highest);
}

void add_canary(std::vector<Connection::Statement>& to, std::string_view host, std::string_view body, std::int64_t now_ms) {
  to.push_back({kPutCanary, std::move(Params().text(host).i64(now_ms).bytes(body))});
}

void add_answers(std::vector<Connection::Statement>& to, std::vector<AnswerRow> rows) {
  if (rows.empty()) return;
  std::sort(rows.begin(), rows.end(), [](const AnswerRow& a, const AnswerRow& b) { return a.identity < b.identity; });
  std::vector<std::int32_t> old_tenants;
  std::vector<std::string_view> old_identities;
  for (const AnswerRow& row : rows) {
    if (!row.replaces) continue;
    old_tenants.push_back(static_cast<std::int32_t>(row.identity.tenant));
    old_identities.push_back(view(row.identity.digest));
  }
  if (!old_tenants.empty()) to.push_back({kDeleteAnswers, std::move(Params().i32s(old_tenants).byteas(old_identities))});
  const auto answers = column<std::string>(rows, [](const AnswerRow& row) {
    if (row.answered.kind != IdempotentAnswer::Kind::events) return std::string();
    return encode_answer(place_key(row.identity.tenant, row.answered.record), row.answered);
  });
  to.push_back(
      {kInsertAnswers, std::move(Params()
                                     .i32s(ints(rows, [](const AnswerRow& row) { return row.identity.tenant; }))
                                     .byteas(texts(rows, [](const AnswerRow& row) { return view(row.identity.digest); }))
                                     .byteas(texts(rows, [](const AnswerRow& row) { return view(row.answered.idempotency.content); }))
                                     .i64s(bigs(rows, [](const AnswerRow& row) { return row.answered.created_ms; }))
                                     .i16s(shorts(rows, [](const AnswerRow& row) { return row.answered.kind; }))
                                     .i64s(bigs(rows, [](const AnswerRow& row) { return row.answered.record.time_ms; }))
                                     .i64s(bigs(rows, [](const AnswerRow& row) { return row.answered.record.seq; }))
                                     .i32s(ints(rows, [](const AnswerRow& row) { return row.answered.revision; }))
                                     .byteas(std::span<const std::string>(answers)))});
}

Connection::Statement policies_note(const std::vector<model::TenantId>& tenants) {
  return {kNotePolicies, std::move(Params().i32s(column<std::int32_t>(tenants, [](model::TenantId tenant) { return tenant; })))};
}

}  // namespace runwarden::store::postgres
