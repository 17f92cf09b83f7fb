#include "store/postgres/batch_reads.h"

#include "model/record_ids.h"
#include "store/key_encoding.h"
#include "store/postgres/row.h"

namespace runwarden::store::postgres {
namespace {

// Each takes its rows in key order, so that no two batches wait for each other.
//
// The setting known_runs is "0" for the rest of the transaction if the first statement made the heads of all $5 runs that the batch asks
// about by name. The statements that look for what is known of them are then answered without a look at any table, as most batches name
// new runs only.
constexpr std::string_view kInsertHeads =
    "WITH made AS (INSERT INTO runwarden.head(tenant, run_id, time_ms, seq) SELECT * FROM unnest($1::int[], $2::text[], $3::bigint[], "
    "$4::bigint[])"
    " ON CONFLICT DO NOTHING RETURNING tenant, run_id, time_ms, seq),"
    " told AS MATERIALIZED (SELECT set_config('runwarden.known_runs', ($5 - count(*))::text, true) FROM made)"
    " SELECT made.tenant, made.run_id, made.time_ms, made.seq FROM made, told";
// For ids that spell a place: if the run at that place has the id, it is the one.
constexpr std::string_view kInsertSpelledHeads =
    "INSERT INTO runwarden.head(tenant, run_id, time_ms, seq)"
    " SELECT u.tenant, u.run_id, coalesce(r.time_ms, u.time_ms), coalesce(r.seq, u.seq)"
    " FROM unnest($1::int[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) u(tenant, run_id, time_ms, seq, at_ms, "
    "at_seq)"
    " LEFT JOIN runwarden.run r ON r.tenant = u.tenant AND r.time_ms = u.at_ms AND r.seq = u.at_seq AND r.run_id = u.run_id"
    " ORDER BY u.tenant, u.run_id COLLATE \"C\" ON CONFLICT DO NOTHING RETURNING tenant, run_id, time_ms, seq";
// Heads that existed before. This transaction already has the locks of the rows that it inserted.
constexpr std::string_view kLockHeads =
    "SELECT h.tenant, h.run_id, h.time_ms, h.seq FROM unnest($1::int[], $2::text[]) u(tenant, run_id) JOIN runwarden.head h USING (tenant, "
    "run_id)"
    " WHERE current_setting('runwarden.known_runs') <> '0' AND h.xmin <> pg_current_xact_id()::xid ORDER BY h.tenant, h.run_id FOR UPDATE "
    "OF h";
// $3: whether some of them are not among the runs that the batch asks about by name.
constexpr std::string_view kLockOpenRuns =
    "SELECT o.tenant, o.run_id, o.time_ms, o.seq, o.token, o.due_ms, o.first_ms, o.last_ms, o.root_ms, o.awaits, o.body"
    " FROM unnest($1::int[], $2::text[]) u(tenant, run_id) JOIN runwarden.open_run o USING (tenant, run_id)"
    " WHERE ($3 OR current_setting('runwarden.known_runs') <> '0') ORDER BY o.tenant, o.run_id FOR UPDATE OF o";
constexpr std::string_view kReadResolved =
    "SELECT h.tenant, h.run_id, r.time_ms, r.seq, r.body FROM unnest($1::int[], $2::text[]) u(tenant, run_id)"
    " JOIN runwarden.head h USING (tenant, run_id)"
    " JOIN runwarden.run r ON r.tenant = h.tenant AND r.time_ms = h.time_ms AND r.seq = h.seq"
    " WHERE current_setting('runwarden.known_runs') <> '0' AND r.state <> 0";
constexpr std::string_view kReadAnswers =
    "SELECT i.tenant, i.identity, i.content, i.created_ms, i.kind, i.time_ms, i.seq, i.revision, i.answer, CASE i.kind"
    " WHEN 2 THEN (SELECT c.body FROM runwarden.change c WHERE c.tenant = i.tenant AND c.time_ms = i.time_ms AND c.seq = i.seq)"
    " WHEN 3 THEN (SELECT p.body FROM runwarden.policy p WHERE p.tenant = i.tenant AND p.time_ms = i.time_ms AND p.seq = i.seq)"
    " WHEN 4 THEN NULL WHEN 5 THEN NULL"
    " ELSE (SELECT CASE WHEN r.state <> 0 THEN r.body ELSE (SELECT o.body FROM runwarden.open_run o WHERE o.tenant = i.tenant AND "
    "o.time_ms = i.time_ms"
    " AND o.seq = i.seq) END FROM runwarden.run r WHERE r.tenant = i.tenant AND r.time_ms = i.time_ms AND r.seq = i.seq) END"
    " FROM unnest($1::int[], $2::bytea[]) u(tenant, identity) JOIN runwarden.idempotency i USING (tenant, identity)";
constexpr std::string_view kReadSeen =
    "SELECT u.tenant, u.run_id, u.half FROM unnest($1::int[], $2::text[], $3::bytea[]) u(tenant, run_id, half)"
    " JOIN runwarden.head h USING (tenant, run_id)"
    " JOIN runwarden.event_id e ON e.tenant = h.tenant AND e.time_ms = h.time_ms AND e.seq = h.seq AND e.half = u.half"
    " WHERE current_setting('runwarden.known_runs') <> '0'";
// Comes after the locks of these open runs, which no other batch holds now: nobody else stores ids of theirs.
constexpr std::string_view kStoreNew =
    "INSERT INTO runwarden.event_id(tenant, time_ms, seq, half) SELECT * FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::bytea[])"
    " ON CONFLICT DO NOTHING RETURNING tenant, time_ms, seq, half";
constexpr std::string_view kInsertPolicyHeads =
    "INSERT INTO runwarden.policy_head(tenant, policy, highest) SELECT u.tenant, u.policy, -1 FROM unnest($1::int[], $2::text[]) u(tenant, "
    "policy)"
    " ON CONFLICT DO NOTHING";
constexpr std::string_view kLockPolicyHeads =
    "SELECT h.tenant, h.policy, h.highest::text FROM unnest($1::int[], $2::text[]) u(tenant, policy)"
    " JOIN runwarden.policy_head h USING (tenant, policy) ORDER BY h.tenant, h.policy FOR UPDATE OF h";
constexpr std::string_view kReadRevisions =
    "SELECT p.tenant, p.policy, p.revision, p.time_ms, p.seq, p.body FROM unnest($1::int[], $2::text[], $3::text[]) u(tenant, policy, "
    "revision)"
    " JOIN runwarden.policy p USING (tenant, policy, revision)";
// Comes after the locks of the policies. Whoever finds a higher number takes a new start, whose numbers are above all others. A revision
// may outlive its change.
constexpr std::string_view kFindLater =
    "WITH later AS MATERIALIZED (SELECT u.tenant, u.time_ms, max(c.seq) AS seq"
    " FROM unnest($1::int[], $2::bigint[], $3::bigint[]) u(tenant, time_ms, seq) CROSS JOIN LATERAL ("
    "SELECT seq FROM runwarden.change WHERE tenant = u.tenant AND time_ms = u.time_ms AND seq > u.seq UNION ALL"
    " SELECT seq FROM runwarden.policy WHERE tenant = u.tenant AND time_ms = u.time_ms AND seq > u.seq) c GROUP BY 1, 2),"
    " start AS (UPDATE runwarden.counter SET value = value + 1 WHERE name = 'start' AND EXISTS (SELECT FROM later) RETURNING value)"
    " SELECT later.tenant, later.time_ms, later.seq, start.value FROM later, start";
constexpr std::string_view kLockFailures =
    "SELECT f.tenant, f.time_ms, f.seq, f.shadow, f.body FROM unnest($1::int[], $2::bigint[], $3::bigint[]) u(tenant, time_ms, seq)"
    " JOIN runwarden.failure f USING (tenant, time_ms, seq) ORDER BY f.tenant, f.time_ms, f.seq FOR UPDATE OF f";
constexpr std::string_view kReadLastReviews =
    "SELECT u.tenant, u.time_ms, u.seq, v.time_ms, v.seq, v.verdict FROM unnest($1::int[], $2::bigint[], $3::bigint[]) u(tenant, time_ms, "
    "seq)"
    " CROSS JOIN LATERAL (SELECT w.time_ms, w.seq, w.verdict FROM runwarden.review w WHERE w.tenant = u.tenant AND w.failure_ms = u.time_ms"
    " AND w.failure_seq = u.seq ORDER BY w.time_ms DESC, w.seq DESC LIMIT 1) v";
constexpr std::string_view kFindRuns =
    "SELECT r.tenant, r.time_ms, r.seq FROM unnest($1::int[], $2::bigint[], $3::bigint[]) u(tenant, time_ms, seq)"
    " JOIN runwarden.run r USING (tenant, time_ms, seq)";

constexpr std::string_view kLockOpinions =
    "SELECT o.tenant, o.time_ms, o.seq, o.state, o.token FROM unnest($1::int[], $2::bigint[], $3::bigint[]) u(tenant, time_ms, seq)"
    " JOIN runwarden.opinion o USING (tenant, time_ms, seq) ORDER BY o.tenant, o.time_ms, o.seq FOR UPDATE OF o";
constexpr std::string_view kReadSubjects =
    "SELECT u.tenant, u.time_ms, u.seq, u.subject, v.time_ms, v.seq, v.body FROM unnest($1::int[], $2::bigint[], $3::bigint[], "
    "$4::bytea[]) u(tenant, time_ms, seq, subject)"
    " CROSS JOIN LATERAL (SELECT w.time_ms, w.seq, w.verdict, w.body FROM runwarden.review w WHERE w.tenant = u.tenant AND w.run_time_ms = "
    "u.time_ms AND w.run_seq = u.seq"
    " AND w.subject = u.subject ORDER BY w.time_ms DESC, w.seq DESC LIMIT 1) v WHERE v.verdict <> 0";

constexpr std::string_view kReadBeyond =
    "SELECT e.tenant, e.time_ms, e.seq, e.first, e.count, e.received_ms, e.bytes, CASE WHEN e.first < u.upto THEN e.body ELSE '' END"
    " FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::int[]) u(tenant, time_ms, seq, upto)"
    " JOIN runwarden.event e ON e.tenant = u.tenant AND e.time_ms = u.time_ms AND e.seq = u.seq WHERE e.first + e.count > u.upto AND "
    "e.first >= 0"
    " ORDER BY e.first";
constexpr std::string_view kReadFailures =
    "SELECT f.tenant, f.time_ms, f.seq, f.body FROM unnest($1::int[], $2::bigint[], $3::bigint[]) u(tenant, time_ms, seq)"
    " JOIN runwarden.failure f USING (tenant, time_ms, seq) ORDER BY f.tenant, f.time_ms, f.seq FOR UPDATE OF f";
constexpr std::string_view kReadRuns =
    "SELECT r.tenant, r.time_ms, r.seq, CASE WHEN r.state <> 0 THEN r.body ELSE (SELECT o.body FROM runwarden.open_run o WHERE o.tenant = "
    "r.tenant"
    " AND o.time_ms = r.time_ms AND o.seq = r.seq) END FROM unnest($1::int[], $2::bigint[], $3::bigint[]) u(tenant, time_ms, seq)"
    " JOIN runwarden.run r USING (tenant, time_ms, seq)";

std::int32_t tenant_number(model::TenantId tenant) { return static_cast<std::int32_t>(tenant); }

model::TenantId tenant_at(const Rows& rows, std::size_t row) { return static_cast<model::TenantId>(rows.number(row, 0)); }
RunName name_at(const Rows& rows, std::size_t row) { return {tenant_at(rows, row), std::string(rows.bytes(row, 1))}; }
model::RecordKey key_at(const Rows& rows, std::size_t row, int column) {
  return {rows.number(row, column), static_cast<std::uint64_t>(rows.number(row, column + 1))};
}

TenantKey place_at(const Rows& rows, std::size_t row) {
  return {tenant_at(rows, row), key_at(rows, row, 1)};
}

struct NameColumns {
  std::vector<std::int32_t> tenants;
  std::vector<std::string_view> names;
  void add(model::TenantId tenant, std::string_view name) {
    tenants.push_back(tenant_number(tenant));
    names.push_back(name);
  }
  Params params() const { return std::move(Params().i32s(tenants).texts(names)); }
};

struct HeadColumns {
  NameColumns names;
  std::vector<std::int64_t> times, seqs, spelled_times, spelled_seqs;
  void add(const RunName& run, const model::RecordKey& key) {
    names.add(run.tenant, run.run_id);
    times.push_back(key.time_ms);
    seqs.push_back(number_of(key.seq));
  }
  void add_spelled(const RunName& run, const model::RecordKey& key, const model::RecordKey& spelled) {
    add(run, key);
    spelled_times.push_back(spelled.time_ms);
    spelled_seqs.push_back(number_of(spelled.seq));
  }
  Params params() const { return std::move(names.params().i64s(times).i64s(seqs)); }
  Params spelled_params() const { return std::move(params().i64s(spelled_times).i64s(spelled_seqs)); }
};

FoundOpenRun open_run_at(const Rows& rows, std::size_t row) {
  FoundOpenRun open;
  open.place = key_at(rows, row, 2);
  open.token = rows.number(row, 4);
  open.due_ms = rows.number(row, 5);
  open.activity.first_ms = rows.number(row, 6);
  open.activity.last_ms = rows.number(row, 7);
  if (!rows.is_null(row, 8)) open.activity.root_ms = rows.number(row, 8);
  open.activity.awaits = static_cast<Awaits>(rows.number(row, 9));
  open.body = rows.bytes(row, 10);
  return open;
}

PolicyName policy_name_at(const Rows& rows, std::size_t row) {
  return {tenant_at(rows, row), std::string(rows.bytes(row, 1))};
}

// A policy without revisions has -1.
std::string_view highest_at(const Rows& rows, std::size_t row) {
  const std::string_view highest = rows.bytes(row, 2);
  return highest == "-1" ? std::string_view() : highest;
}

FoundAnswer answer_at(const Rows& rows, std::size_t row) {
  FoundAnswer found;
  const model::RecordKey record = key_at(rows, row, 5);
  if (!rows.is_null(row, 8)) found.answered = decode_answer(place_key(tenant_at(rows, row), record), rows.bytes(row, 8));
  found.answered.record = record;
  found.answered.idempotency = {digest_in(rows.bytes(row, 1), "identity"), digest_in(rows.bytes(row, 2), "content")};
  found.answered.created_ms = rows.number(row, 3);
  found.answered.kind = static_cast<IdempotentAnswer::Kind>(rows.number(row, 4));
  found.answered.revision = static_cast<std::uint32_t>(rows.number(row, 7));
  if (!rows.is_null(row, 9)) found.record = rows.bytes(row, 9);
  return found;
}

}  // namespace

std::vector<std::int32_t> tenants_of(const std::vector<TenantKey>& places) {
  std::vector<std::int32_t> column;
  column.reserve(places.size());
  for (const TenantKey& place : places) column.push_back(tenant_number(place.tenant));
  return column;
}
std::vector<std::int64_t> times_of(const std::vector<TenantKey>& places) {
  std::vector<std::int64_t> column;
  column.reserve(places.size());
  for (const TenantKey& place : places) column.push_back(place.key.time_ms);
  return column;
}
std::vector<std::int64_t> seqs_of(const std::vector<TenantKey>& places) {
  std::vector<std::int64_t> column;
  column.reserve(places.size());
  for (const TenantKey& place : places) column.push_back(number_of(place.key.seq));
  return column;
}

namespace {

Params by_place(const std::vector<TenantKey>& places) {
  return std::move(Params().i32s(tenants_of(places)).i64s(times_of(places)).i64s(seqs_of(places)));
}

}  // namespace

void StateQuery::ask(StatementKind kind, std::string_view sql, Params params) {
  kinds_.push_back(kind);
  statements_.push_back({sql, std::move(params)});
}

StateQuery::StateQuery(const WantedState& wanted) : wanted_(wanted) {
  for (const auto& [run, place] : wanted.open_at) guessed_[{run.tenant, place}] = &run;
  ask_for_runs();
  ask_for_changes();
  ask_for_event_ids();
  ask_for_answers();
  ask_for_reviews();
}

void StateQuery::ask_for_runs() {
  HeadColumns heads, spelled_heads;
  NameColumns runs, open;
  for (const auto& [run, key] : wanted_.runs) {
    const auto spelled = model::parse_run_id(run.run_id);
    if (spelled) {
      spelled_heads.add_spelled(run, key, *spelled);
    } else {
      heads.add(run, key);
    }
    runs.add(run.tenant, run.run_id);
    open.add(run.tenant, run.run_id);
  }
  std::set<RunName> only_open = wanted_.claimed;
  for (const auto& [run, place] : wanted_.open_at) only_open.insert(run);
  for (const RunName& run : only_open) {
    if (!wanted_.runs.contains(run)) open.add(run.tenant, run.run_id);
  }
  const auto asked = static_cast<std::int64_t>(wanted_.runs.size());
  if (!heads.times.empty()) ask(StatementKind::new_heads, kInsertHeads, std::move(heads.params().i64(asked)));
  if (!spelled_heads.times.empty()) ask(StatementKind::new_heads, kInsertSpelledHeads, spelled_heads.spelled_params());
  if (!runs.names.empty()) ask(StatementKind::heads, kLockHeads, runs.params());
  if (!open.names.empty()) ask(StatementKind::open, kLockOpenRuns, std::move(open.params().boolean(!only_open.empty())));
  if (!runs.names.empty()) ask(StatementKind::resolved, kReadResolved, runs.params());
}

void StateQuery::ask_for_changes() {
  if (!wanted_.policies.empty()) {
    NameColumns policies;
    for (const PolicyName& policy : wanted_.policies) policies.add(policy.tenant, policy.policy);
    ask(StatementKind::new_policies, kInsertPolicyHeads, policies.params());
    ask(StatementKind::policies, kLockPolicyHeads, policies.params());
  }
  if (!wanted_.change_times.empty()) {
    std::vector<TenantKey> changes;
    for (const auto& [at, seq] : wanted_.change_times) changes.push_back({at.tenant, {at.time_ms, seq}});
    ask(StatementKind::change_times, kFindLater, by_place(changes));
  }
  if (wanted_.revisions.empty()) return;
  NameColumns policies;
  std::vector<std::string_view> revisions;
  for (const RevisionName& one : wanted_.revisions) {
    policies.add(one.policy.tenant, one.policy.policy);
    revisions.push_back(one.revision);
  }
  ask(StatementKind::revisions, kReadRevisions, std::move(policies.params().texts(revisions)));
}

void StateQuery::ask_for_event_ids() {
  NameColumns names;
  std::vector<std::string_view> halves, new_halves;
  std::vector<TenantKey> places;
  for (const auto& [run, half] : wanted_.event_ids) {
    if (const auto guess = wanted_.open_at.find(run); guess != wanted_.open_at.end()) {
      places.push_back({run.tenant, guess->second});
      new_halves.push_back(half);
    } else {
      names.add(run.tenant, run.run_id);
      halves.push_back(half);
    }
  }
  if (!halves.empty()) ask(StatementKind::seen, kReadSeen, std::move(names.params().byteas(halves)));
  if (!places.empty()) ask(StatementKind::stored, kStoreNew, std::move(by_place(places).byteas(new_halves)));
}

void StateQuery::ask_for_answers() {
  if (wanted_.identities.empty()) return;
  std::vector<std::int32_t> tenants;
  std::vector<std::string_view> identities;
  for (const Identity& identity : wanted_.identities) {
    tenants.push_back(tenant_number(identity.tenant));
    identities.push_back(view(identity.digest));
  }
  ask(StatementKind::answers, kReadAnswers, std::move(Params().i32s(tenants).byteas(identities)));
}

void StateQuery::ask_for_reviews() {
  if (!wanted_.reviewed_failures.empty()) {
    const std::vector<TenantKey> failures(wanted_.reviewed_failures.begin(), wanted_.reviewed_failures.end());
    ask(StatementKind::failures, kLockFailures, by_place(failures));
    ask(StatementKind::last_reviews, kReadLastReviews, by_place(failures));
  }
  if (!wanted_.opinions.empty()) ask(StatementKind::opinions, kLockOpinions, by_place({wanted_.opinions.begin(), wanted_.opinions.end()}));
  if (!wanted_.subjects.empty()) {
    std::vector<TenantKey> runs_of;
    std::vector<std::string_view> subjects;
    for (const SubjectOf& one : wanted_.subjects) {
      runs_of.push_back(one.run);
      subjects.push_back(one.subject);
    }
    ask(StatementKind::subjects, kReadSubjects, std::move(by_place(runs_of).byteas(subjects)));
  }
  if (!wanted_.reviewed_runs.empty()) {
    ask(StatementKind::runs_there, kFindRuns, by_place({wanted_.reviewed_runs.begin(), wanted_.reviewed_runs.end()}));
  }
}

void StateQuery::check_guesses(const LoadedState& found) const {
  WrongGuess wrong;
  for (const auto& [run, place] : wanted_.open_at) {
    const auto open = found.open.find(run);
    if (open == found.open.end() || open->second.place != place) wrong.runs.push_back(run);
  }
  if (!wrong.runs.empty()) throw wrong;
}

void StateQuery::take_row(StatementKind kind, const Rows& rows, std::size_t row, LoadedState& found) const {
  switch (kind) {
    case StatementKind::new_heads:
      found.new_heads.insert(name_at(rows, row));
      found.heads[name_at(rows, row)] = key_at(rows, row, 2);
      break;
    case StatementKind::heads: found.heads[name_at(rows, row)] = key_at(rows, row, 2); break;
    case StatementKind::open: found.open[name_at(rows, row)] = open_run_at(rows, row); break;
    case StatementKind::resolved: found.resolved[name_at(rows, row)] = {key_at(rows, row, 2), std::string(rows.bytes(row, 4))}; break;
    case StatementKind::answers: {
      FoundAnswer answer = answer_at(rows, row);
      found.answers[{tenant_at(rows, row), answer.answered.idempotency.identity}] = std::move(answer);
      break;
    }
    case StatementKind::seen: found.seen.emplace(name_at(rows, row), std::string(rows.bytes(row, 2))); break;
    case StatementKind::stored: found.stored.emplace(*guessed_.at(place_at(rows, row)), std::string(rows.bytes(row, 3))); break;
    case StatementKind::new_policies: break;
    case StatementKind::policies: found.highest[policy_name_at(rows, row)] = highest_at(rows, row); break;
    case StatementKind::revisions:
      found.revisions[{policy_name_at(rows, row), std::string(rows.bytes(row, 2))}] = {key_at(rows, row, 3),
                                                                                       std::string(rows.bytes(row, 5))};
      break;
    case StatementKind::change_times:
      found.last_at[{tenant_at(rows, row), rows.number(row, 1)}] = static_cast<std::uint64_t>(rows.number(row, 2));
      found.free_seq = static_cast<std::uint64_t>(rows.number(row, 3)) << kCounterBits;
      break;
    case StatementKind::failures: found.failures[place_at(rows, row)] = {rows.boolean(row, 3), std::string(rows.bytes(row, 4))}; break;
    case StatementKind::last_reviews:
      found.last_reviews[place_at(rows, row)] = {key_at(rows, row, 3), static_cast<model::ReviewVerdict>(rows.number(row, 5))};
      break;
    case StatementKind::opinions:
      found.opinions[place_at(rows, row)] = {static_cast<model::OpinionState>(rows.number(row, 3)),
                                             static_cast<std::uint64_t>(rows.number(row, 4))};
      break;
    case StatementKind::subjects:
      found.reviewed[{place_at(rows, row), std::string(rows.bytes(row, 3))}] = {key_at(rows, row, 4), std::string(rows.bytes(row, 6))};
      break;
    case StatementKind::runs_there: found.runs_there.insert(place_at(rows, row)); break;
  }
}

LoadedState StateQuery::take(std::span<const Rows> answers) const {
  LoadedState found;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    for (std::size_t row = 0; row < answers[i].size(); ++row) take_row(kinds_[i], answers[i], row, found);
  }
  check_guesses(found);
  // Retention deleted a row between two statements.
  if (found.heads.size() != wanted_.runs.size() || found.highest.size() != wanted_.policies.size()) {
    throw PgFault(PgFault::Kind::again, "40001", "a row was deleted concurrently");
  }
  return found;
}

LoadedClaims load_claims(Connection& connection, const WantedClaims& wanted) {
  std::vector<Connection::Statement> statements;
  if (!wanted.beyond.empty()) {
    std::vector<TenantKey> places;
    std::vector<std::int32_t> ends;
    for (const auto& [place, upto] : wanted.beyond) {
      places.push_back(place);
      ends.push_back(static_cast<std::int32_t>(upto));
    }
    statements.push_back(
        {kReadBeyond, std::move(Params().i32s(tenants_of(places)).i64s(times_of(places)).i64s(seqs_of(places)).i32s(ends))});
  }
  if (!wanted.failures.empty()) statements.push_back({kReadFailures, by_place(wanted.failures)});
  if (!wanted.runs.empty()) statements.push_back({kReadRuns, by_place(wanted.runs)});
  const std::vector<Rows> answers = connection.run(statements);
  LoadedClaims found;
  std::size_t next = 0;
  if (!wanted.beyond.empty()) {
    const Rows& rows = answers[next++];
    for (std::size_t row = 0; row < rows.size(); ++row) {
      found.beyond[place_at(rows, row)].push_back({static_cast<std::uint32_t>(rows.number(row, 3)),
                                                   static_cast<std::uint32_t>(rows.number(row, 4)), rows.number(row, 5),
                                                   static_cast<std::uint64_t>(rows.number(row, 6)), std::string(rows.bytes(row, 7))});
    }
  }
  const auto take_bodies = [&](const std::vector<TenantKey>& asked, std::map<TenantKey, std::string>& bodies) {
    if (asked.empty()) return;
    const Rows& rows = answers[next++];
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (!rows.is_null(row, 3)) bodies[place_at(rows, row)] = rows.bytes(row, 3);
    }
  };
  take_bodies(wanted.failures, found.failures);
  take_bodies(wanted.runs, found.runs);
  return found;
}

}  // namespace runwarden::store::postgres
