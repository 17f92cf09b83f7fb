#include "store/postgres/duties.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "store/crash_mark_codec.h"
#include "store/key_encoding.h"
#include "store/postgres/batch_effects.h"
#include "store/postgres/group_writer.h"
#include "store/postgres/ledger_writer.h"
#include "store/postgres/note.h"
#include "store/postgres/reviews.h"
#include "store/postgres/row.h"
#include "store/postgres/schema.h"
#include "store/record_codec.h"

namespace runwarden::store::postgres {
namespace {

constexpr std::int64_t kLeaseMs = 15'000;
constexpr int kMostTries = 5;
constexpr int kDaysAhead = 3;
constexpr std::int64_t kTidyIntervalMs = 60'000;
constexpr std::int64_t kGoneMs = 3600 * std::int64_t{1000};  // a host that was not heard from for so long counts as gone
constexpr std::int64_t kForgottenMs = 30 * kDayMs;           // and is forgotten
constexpr std::int64_t kEmptyPartitionMs = 2 * kDayMs;       // minimum age of an empty partition that is dropped
constexpr std::int16_t kDeletions = -1;                      // the lane number under which deleted open runs are counted

constexpr const char* kTakeDuty =
    "WITH mine AS (SELECT name FROM runwarden.duty WHERE name = 'retention' AND (until_ms < $1 OR start = $2) FOR UPDATE SKIP LOCKED)"
    " UPDATE runwarden.duty d SET start = $2, token = d.token + 1, until_ms = $3 FROM mine WHERE d.name = mine.name";

// Places of records, as three arrays.
struct Places {
  std::vector<std::int32_t> tenants;
  std::vector<std::int64_t> times;
  std::vector<std::int64_t> seqs;

  void add(model::TenantId tenant, const model::RecordKey& key) {
    tenants.push_back(static_cast<std::int32_t>(tenant));
    times.push_back(key.time_ms);
    seqs.push_back(number_of(key.seq));
  }
  std::size_t size() const { return tenants.size(); }
  Params params() const { return std::move(Params().i32s(tenants).i64s(times).i64s(seqs)); }
};

// A table whose rows have a place, and which of them may be deleted.
struct Source {
  const char* table;
  const char* more = "";     // conditions on its row `o`; may name $3, the time of the database
  const char* columns = "";  // besides the place
};

// The oldest rows of a table from before $1, tenant by tenant, at most $2, found by key with one index look-up per tenant. Only of tenant
// $4, if it is given.
std::string oldest_sql(const Source& source, bool of_one_tenant) {
  const std::string table = std::string("runwarden.") + source.table;
  const std::string tenants =
      of_one_tenant ? std::string("t(tenant) AS (SELECT $4::int)")
                    : "t AS ((SELECT tenant FROM " + table + " ORDER BY tenant LIMIT 1) UNION ALL SELECT (SELECT x.tenant FROM " + table +
                          " x WHERE x.tenant > t.tenant ORDER BY x.tenant LIMIT 1) FROM t WHERE t.tenant IS NOT NULL)";
  return "WITH RECURSIVE " + tenants + " SELECT g.* FROM t CROSS JOIN LATERAL (SELECT o.tenant, o.time_ms, o.seq" + source.columns +
         " FROM " + table + " o WHERE o.tenant = t.tenant AND o.time_ms < $1 AND $3::bigint IS NOT NULL" + source.more +
         " ORDER BY o.time_ms, o.seq LIMIT $2) g LIMIT $2";
}

// Deletes the rows at places, which are $1 to $3.
std::string delete_sql(const std::string& table, const std::string& more, const std::string& returning) {
  return "DELETE FROM runwarden." + table +
         " o USING unnest($1::int[], $2::bigint[], $3::bigint[]) AS p(tenant, time_ms, seq)"
         " WHERE o.tenant = p.tenant AND o.time_ms = p.time_ms AND o.seq = p.seq" +
         more + (returning.empty() ? std::string() : " RETURNING " + returning);
}

const std::string kFailureColumns = "o.tenant, o.time_ms, o.seq, o.shadow, " + head_of("o.body");

// One transaction that deletes.
class Expiry {
 public:
  Expiry(Connection& connection, const Retention& retention, std::int64_t now_ms, std::size_t most)
      : connection_(connection), retention_(retention), now_ms_(now_ms), most_(most) {}

  std::size_t left() const { return most_ - std::min(most_, static_cast<std::size_t>(gone.total())); }

  void failures();
  void runs();
  void changes();
  void policies();
  void answers(std::int64_t keep_ms);
  void crash_marks();
  void reviews(CommitNotes& notes);

  Expired gone;
  BatchEffects effects;
  std::vector<ErasedRecord> erased;  // records that may have entries in ledgers
  std::uint64_t open_runs = 0;       // among the deleted runs

 private:
  std::optional<Rows> oldest(const Source& source, std::int64_t before_ms);
  static Places places_of(const Rows& rows);
  std::uint64_t take_failures(const Rows& rows, bool expired);
  void lock_heads(const Rows& rows, const Places& places);
  void delete_open_runs(const Places& places);
  void delete_opinions(const Places& runs);
  void delete_heads(const Rows& runs, const Places& places);
  void delete_failures_of(const Places& runs);
  void take_run(const Rows& rows, std::size_t row);
  std::uint64_t delete_places(const char* table, const Places& places) {
    return connection_.query(delete_sql(table, "", ""), places.params()).affected();
  }
  void erase(ledger::Kind kind, const Places& places) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      const model::RecordKey key{places.times[i], static_cast<std::uint64_t>(places.seqs[i])};
      erased.push_back({static_cast<model::TenantId>(places.tenants[i]), kind, place_name(key)});
    }
  }
  void note(const Places& places) {
    for (const std::int32_t tenant : places.tenants) effects.notes.note(static_cast<model::TenantId>(tenant));
  }

  Connection& connection_;
  const Retention& retention_;
  const std::int64_t now_ms_;
  const std::size_t most_;
};

// Nothing: there are no such rows.
std::optional<Rows> Expiry::oldest(const Source& source, std::int64_t before_ms) {
  if (before_ms == kBeginningMs || left() == 0) return std::nullopt;
  Params params;
  params.i64(before_ms).i64(static_cast<std::int64_t>(left())).i64(now_ms_);
  if (retention_.tenant) params.i32(static_cast<std::int32_t>(*retention_.tenant));
  Rows rows = connection_.query(oldest_sql(source, retention_.tenant.has_value()), std::move(params));
  if (rows.empty()) return std::nullopt;
  return rows;
}

Places Expiry::places_of(const Rows& rows) {
  Places places;
  for (std::size_t row = 0; row < rows.size(); ++row)
    places.add(static_cast<model::TenantId>(rows.number(row, 0)), record_key(rows, row, 1));
  return places;
}

// A failure that cannot be read is deleted, too; its group still counts it.
std::uint64_t Expiry::take_failures(const Rows& rows, bool expired) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto tenant = static_cast<model::TenantId>(rows.number(row, 0));
    effects.notes.note(tenant);
    if (rows.boolean(row, 3)) continue;
    const KeyBytes key = place_key(tenant, record_key(rows, row, 1));
    try {
      effects.failures_removed.push_back(
          {tenant, decode_failure_head(key, rows.bytes(row, 4)), expired ? Removal::expired : Removal::taken_back});
    } catch (const BadValue&) {
    }
  }
  return rows.size();
}

void Expiry::failures() {
  const auto old = oldest({"failure"}, retention_.failures_before_ms);
  if (!old) return;
  gone.failures +=
      take_failures(connection_.query(delete_sql("failure", "", kFailureColumns), places_of(*old).params()), !retention_.tenant);
}

void Expiry::take_run(const Rows& rows, std::size_t row) {
  const auto tenant = static_cast<model::TenantId>(rows.number(row, 0));
  const model::RecordKey at = record_key(rows, row, 1);
  effects.notes.note(tenant);
  const KeyBytes key = place_key(tenant, at);
  try {
    const StoredRun stored = decode_run_head(key, rows.bytes(row, 3));
    gone.events += stored.buffering ? stored.buffering->total : stored.run.events;
    effects.runs_left.push_back({tenant, at, stored.run.dimensions});
  } catch (const BadValue&) {
  }
}

void Expiry::lock_heads(const Rows& rows, const Places& places) {
  std::vector<std::string_view> run_ids;
  for (std::size_t row = 0; row < rows.size(); ++row) run_ids.push_back(rows.bytes(row, 3));
  connection_.query(
      "SELECT 1 FROM runwarden.head h JOIN unnest($1::int[], $2::text[]) AS p(tenant, run_id) USING (tenant, run_id) ORDER BY h.tenant, "
      "h.run_id FOR UPDATE OF h",
      std::move(Params().i32s(places.tenants).texts(run_ids)));
}

void Expiry::delete_open_runs(const Places& places) {
  const Rows open = connection_.query(delete_sql("open_run", "", "o.tenant, o.time_ms, o.seq, o.body"), places.params());
  for (std::size_t row = 0; row < open.size(); ++row) take_run(open, row);
  open_runs += open.size();
}

void Expiry::delete_opinions(const Places& runs) {
  connection_.query(
      "DELETE FROM runwarden.opinion o USING unnest($1::int[], $2::bigint[], $3::bigint[]) AS p(tenant, time_ms, seq)"
      " WHERE o.tenant = p.tenant AND o.run_time_ms = p.time_ms AND o.run_seq = p.seq",
      runs.params());
}

void Expiry::delete_heads(const Rows& runs, const Places& places) {
  std::vector<std::string_view> run_ids;
  for (std::size_t row = 0; row < runs.size(); ++row) run_ids.push_back(runs.bytes(row, 5));
  connection_.query(
      "DELETE FROM runwarden.head h USING unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[]) AS p(tenant, time_ms, seq, run_id)"
      " WHERE h.tenant = p.tenant AND h.run_id = p.run_id AND h.time_ms = p.time_ms AND h.seq = p.seq",
      std::move(places.params().texts(run_ids)));
}

void Expiry::delete_failures_of(const Places& runs) {
  const Rows failures = connection_.query(
      "DELETE FROM runwarden.failure o USING unnest($1::int[], $2::bigint[], $3::bigint[]) AS p(tenant, time_ms, seq)"
      " WHERE o.tenant = p.tenant AND o.run_time_ms = p.time_ms AND o.run_seq = p.seq RETURNING " +
          kFailureColumns,
      runs.params());
  gone.failures += take_failures(failures, false);
}

// A writer to a run holds the lock of its head, or of the run's own row: a deleted run has no writer, and a run that was opened meanwhile
// stays.
void Expiry::runs() {
  const char* const unless_open = retention_.open_runs_too ? "" : " AND o.state <> 0";
  const auto old = oldest({"run", unless_open, ", o.run_id"}, retention_.runs_before_ms);
  if (!old) return;
  const Places candidates = places_of(*old);
  lock_heads(*old, candidates);
  const Rows runs = connection_.query(
      delete_sql("run", unless_open, "o.tenant, o.time_ms, o.seq, " + head_of("o.body") + ", o.state, o.run_id"), candidates.params());
  const Places places = places_of(runs);
  erase(ledger::Kind::run, places);
  for (std::size_t row = 0; row < runs.size(); ++row) {
    if (runs.number(row, 4) != 0) take_run(runs, row);
  }
  if (retention_.open_runs_too) delete_open_runs(places);
  for (const char* table : {"former", "event", "event_id"}) delete_places(table, places);
  delete_opinions(places);
  delete_heads(runs, places);
  gone.runs += runs.size();
  if (retention_.tenant) delete_failures_of(places);
}

// A change has the time that its sender gave, which may be long past on receipt: it expires only when both times are too old. A purge goes
// by the given time alone.
void Expiry::changes() {
  const auto old = oldest({"change", retention_.tenant ? "" : " AND o.received_ms < $1"}, retention_.changes_before_ms);
  if (!old) return;
  const Places places = places_of(*old);
  gone.changes += delete_places("change", places);
  erase(ledger::Kind::change, places);
  note(places);
}

// A revision expires like a change, but stays while it is in force, however old it is, unless the tenant itself is purged.
void Expiry::policies() {
  constexpr const char* kNotInForce =
      " AND o.received_ms < $1"
      " AND (o.time_ms > $3 OR EXISTS (SELECT 1 FROM runwarden.policy n WHERE n.tenant = o.tenant AND n.policy = o.policy AND n.time_ms <= "
      "$3"
      " AND (n.time_ms, n.seq) > (o.time_ms, o.seq)))";
  const auto old = oldest({"policy", retention_.tenant ? "" : kNotInForce}, retention_.policies_before_ms);
  if (!old) return;
  const Places places = places_of(*old);
  gone.policies += delete_places("policy", places);
  erase(ledger::Kind::policy, places);
  delete_places("change", places);
  note(places);
}

// Answers whose time is over; in a purge, all from before the time before which runs are deleted.
void Expiry::answers(std::int64_t keep_ms) {
  if (left() == 0) return;
  const std::string which = retention_.tenant ? " tenant = $3 AND created_ms < $1" : " created_ms < $1";
  const std::int64_t before_ms = retention_.tenant ? retention_.runs_before_ms : now_ms_ - keep_ms + 1;
  if (before_ms == kBeginningMs) return;
  Params params;
  params.i64(before_ms).i64(static_cast<std::int64_t>(left()));
  if (retention_.tenant) params.i32(static_cast<std::int32_t>(*retention_.tenant));
  gone.idempotency_keys +=
      connection_
          .query("DELETE FROM runwarden.idempotency o USING (SELECT tenant, identity FROM runwarden.idempotency WHERE" + which +
                     " LIMIT $2 FOR UPDATE SKIP LOCKED) p WHERE o.tenant = p.tenant AND o.identity = p.identity",
                 std::move(params))
          .affected();
}

void Expiry::crash_marks() {
  const auto old = oldest({"crash_mark"}, retention_.runs_before_ms);
  if (old) gone.crash_marks += delete_places("crash_mark", places_of(*old));
}

// The last review of a stored failure or run stays with it.
void Expiry::reviews(CommitNotes& notes) {
  static const std::string kNotInUse = " AND NOT " + is_in_use("o");
  const auto old = oldest({"review", kNotInUse.c_str()}, retention_.changes_before_ms);
  if (!old) return;
  const Places places = places_of(*old);
  gone.reviews += delete_places("review", places);
  erase(ledger::Kind::triage, places);
  for (const std::int32_t tenant : places.tenants) notes.note(static_cast<model::TenantId>(tenant));
}

Connection::Statement fewer_open_runs(std::int64_t start, std::uint64_t fewer) {
  return {
      "INSERT INTO runwarden.lane VALUES ($1, $2, 0, 0, $3) ON CONFLICT (start, lane) DO UPDATE SET open_runs = "
      "runwarden.lane.open_runs + excluded.open_runs",
      std::move(Params().i64(start).i32(kDeletions).i64(-static_cast<std::int64_t>(fewer)))};
}

Connection::Statement note_of(Watch::What what, const Retention& retention) {
  return {kWriteNote,
          std::move(Params().i16(static_cast<std::int16_t>(what)).i32(static_cast<std::int32_t>(retention.tenant.value_or(0))))};
}

// How ledgers report it: a purge says before which time it deletes, if it has one.
Erasing erasing_of(const Retention& retention, std::int64_t now_ms) {
  if (!retention.tenant) return {ledger::Kind::expiry, latest_of(retention), now_ms};
  const bool of_all = retention.changes_before_ms == kEndMs;
  return {ledger::Kind::purge, of_all ? std::nullopt : std::optional(retention.changes_before_ms), now_ms};
}

}  // namespace

ClockGuard::LastUse read_last_use(Connection& connection) {
  const Rows rows = connection.query(
      "SELECT (SELECT value FROM runwarden.counter WHERE name = 'clock'), (SELECT max(newest.time_ms) FROM runwarden.tenant t CROSS JOIN "
      "LATERAL"
      " (SELECT r.time_ms FROM runwarden.run r WHERE r.tenant = t.tenant ORDER BY r.time_ms DESC, r.seq DESC LIMIT 1) newest)");
  const auto at = [&](int column) { return rows.is_null(0, column) ? std::nullopt : std::optional(rows.number(0, column)); };
  return {at(0), at(1)};
}

Duties::~Duties() {
  if (duty_until_ms_ == 0) return;
  try {
    pool_.write([&](Connection& connection) {
      return connection.query("UPDATE runwarden.duty SET until_ms = 0 WHERE start = $1", std::move(Params().i64(rules_.start)));
    });
  } catch (const StoreError&) {  // the lease runs out
  }
}

void Duties::prepare_partitions() {
  const std::int64_t today_ms = day_of(clock_.now_ms()) * kDayMs;
  for (int day = 0; day <= kDaysAhead; ++day) {
    const std::int64_t day_ms = today_ms + day * kDayMs;
    if (day_ms < partitions_to_ms_) continue;
    pool_.read([&](Connection& connection) { make_partitions(connection, day_ms); });
    partitions_to_ms_ = day_ms + kDayMs;
  }
}

// Repeats the transaction after a conflict with another one.
Expired Duties::expire(const Retention& retention, std::size_t most) {
  most = std::max<std::size_t>(most, 1);
  std::optional<Expired> gone;
  for (int tries = 1; !gone; ++tries) {
    gone = pool_.write([&](Connection& connection) -> std::optional<Expired> {
      try {
        return expire_some(connection, retention, most);
      } catch (const PgFault& fault) {
        if (fault.kind != PgFault::Kind::again || tries == kMostTries) throw;
        return std::nullopt;
      } catch (const BadValue& bad) {
        throw StoreError(std::string("store: cannot read a group: ") + bad.what() + "; run `runwarden verify`");
      }
    });
  }
  if (!retention.tenant && !gone->more) tidy(retention);
  return *gone;
}

// Whether this host has the duty, from now on for the time of a lease.
bool Duties::take_duty(Connection& connection, std::int64_t now_ms) {
  connection.query("INSERT INTO runwarden.duty (name, start, token, until_ms) VALUES ('retention', 0, 0, 0) ON CONFLICT DO NOTHING");
  const Rows taken = connection.query(kTakeDuty, std::move(Params().i64(now_ms).i64(rules_.start).i64(now_ms + kLeaseMs)));
  if (taken.affected() == 0) return false;
  duty_until_ms_ = now_ms + kLeaseMs;
  return true;
}

Expired Duties::expire_some(Connection& connection, const Retention& retention, std::size_t most) {
  const std::int64_t now_ms = clock_.now_ms();
  connection.script(std::string("BEGIN; ") + kDurable);
  if (!retention.tenant && !take_duty(connection, now_ms)) {
    connection.rollback();
    return {};
  }
  Expiry expiry(connection, retention, now_ms, most);
  expiry.failures();
  expiry.runs();
  expiry.changes();
  expiry.policies();
  expiry.answers(rules_.keep_idempotency_ms);
  expiry.crash_marks();
  Expired& gone = expiry.gone;
  const EffectRules rules{now_ms, rules_.max_clusters, std::nullopt, rules_.next_seq};
  CommitNotes notes = std::exchange(expiry.effects.notes, {});
  connection.run(write_effects(connection, expiry.effects, rules));
  if (expiry.left() > 0) gone.triage = expire_triage(connection, retention, expiry.left(), {notes, expiry.erased});
  if (expiry.left() > 0) gone.deliveries = expire_deliveries(connection, retention, expiry.left());
  expiry.reviews(notes);
  std::vector<Connection::Statement> last = erase_from_ledgers(connection, expiry.erased, erasing_of(retention, now_ms));
  std::ranges::move(log_statements(notes, now_ms), std::back_inserter(last));
  if (expiry.open_runs > 0) last.push_back(fewer_open_runs(rules_.start, expiry.open_runs));
  if (gone.policies > 0) last.push_back(note_of(Watch::What::policies, retention));
  if (gone.crash_marks > 0) last.push_back(note_of(Watch::What::crash_marks, retention));
  last.push_back({"COMMIT"});
  connection.run(last);
  watch_.add_open_runs(-static_cast<std::int64_t>(expiry.open_runs));
  gone.more = expiry.left() == 0;
  const MutexLock lock(mutex_);
  deleted_.add(gone);
  return gone;
}

void Duties::tidy(const Retention& retention) {
  const std::int64_t now_ms = clock_.now_ms();
  if (now_ms - tidied_ms_ < kTidyIntervalMs && now_ms >= tidied_ms_) return;
  tidied_ms_ = now_ms;
  prepare_partitions();
  forget_hosts(now_ms);
  drop_empty_partitions(std::min({retention.runs_before_ms, retention.failures_before_ms, now_ms - kEmptyPartitionMs}));
}

// The lanes of a host that is gone cannot commit after this. The runs that it opened stay counted, and other hosts may end them.
void Duties::forget_hosts(std::int64_t now_ms) {
  pool_.write([&](Connection& connection) {
    connection.query(
        "WITH gone AS (SELECT l.start, l.lane, l.open_runs FROM runwarden.lane l JOIN runwarden.host h ON h.start = l.start"
        " WHERE h.seen_ms < $1 AND l.open_runs <> 0 ORDER BY l.start, l.lane FOR UPDATE OF l),"
        " ended AS (UPDATE runwarden.lane l SET epoch = l.epoch + 1, open_runs = 0 FROM gone g WHERE l.start = g.start AND l.lane = g.lane)"
        " INSERT INTO runwarden.lane SELECT 0, 0, 0, 0, sum(open_runs) FROM gone HAVING count(*) > 0"
        " ON CONFLICT (start, lane) DO UPDATE SET open_runs = runwarden.lane.open_runs + excluded.open_runs",
        std::move(Params().i64(now_ms - kGoneMs)));
    connection.query(
        "DELETE FROM runwarden.canary c WHERE NOT EXISTS (SELECT 1 FROM runwarden.host h WHERE h.start::text = c.name AND h.seen_ms >= $1)",
        std::move(Params().i64(now_ms - kGoneMs)));
    connection.query(
        "WITH gone AS (DELETE FROM runwarden.host WHERE seen_ms < $1 RETURNING start)"
        " DELETE FROM runwarden.lane l USING gone g WHERE l.start = g.start AND l.open_runs = 0",
        std::move(Params().i64(now_ms - kForgottenMs)));
    return Nothing{};
  });
}

// Drops a partition that is empty while no one else can write to it. The wait for its lock holds up every write to the whole table, so it
// is short.
void Duties::drop_empty_partitions(std::int64_t before_ms) {
  for (const Partition& partition : pool_.read([](Connection& connection) { return partitions(connection); })) {
    if (partition.end_ms > before_ms) continue;
    pool_.write([&](Connection& connection) {
      try {
        if (!connection.query("SELECT NOT EXISTS (SELECT 1 FROM " + partition.name + ")").boolean(0, 0)) return Nothing{};
        connection.script("BEGIN; SET LOCAL lock_timeout = '200ms'; LOCK TABLE " + partition.name + " IN ACCESS EXCLUSIVE MODE");
        const bool empty = connection.query("SELECT NOT EXISTS (SELECT 1 FROM " + partition.name + ")").boolean(0, 0);
        connection.script(empty ? "DROP TABLE " + partition.name + "; COMMIT" : "ROLLBACK");
      } catch (const PgFault& fault) {
        if (fault.kind != PgFault::Kind::again) throw;  // someone is reading it; try another time
      }
      return Nothing{};
    });
  }
}

// The note of any host will do. It goes back only if an operator has confirmed a clock that went back.
void Duties::note_clock(std::int64_t wall_ms, std::uint64_t accepts) {
  pool_.write([&](Connection& connection) {
    return connection.query(
        "INSERT INTO runwarden.counter SELECT 'clock', $1::bigint WHERE (SELECT value FROM runwarden.counter WHERE name = 'clock_accepts') "
        "= $2"
        " ON CONFLICT (name) DO UPDATE SET value = greatest(runwarden.counter.value, excluded.value)",
        std::move(Params().i64(wall_ms).i64(static_cast<std::int64_t>(accepts))));
  });
}

ClockGuard::LastUse Duties::last_use() {
  return pool_.read([](Connection& connection) { return read_last_use(connection); });
}

Expired Duties::deleted() const {
  const MutexLock lock(mutex_);
  return deleted_;
}

void Duties::put_crash_mark(const model::CrashMark& mark) {
  const KeyBytes key = place_key(mark.tenant, mark.key);
  const std::string value = encode_crash_mark(key, mark);
  const auto version = pool_.write([&](Connection& connection) {
    connection.script(std::string("BEGIN; ") + kDurable);
    connection.query(
        "INSERT INTO runwarden.crash_mark VALUES ($1, $2, $3, $4)",
        std::move(Params().i32(static_cast<std::int32_t>(mark.tenant)).i64(mark.key.time_ms).i64(number_of(mark.key.seq)).bytes(value)));
    const Rows note = connection.query(
        kWriteNote,
        std::move(Params().i16(static_cast<std::int16_t>(Watch::What::crash_marks)).i32(static_cast<std::int32_t>(mark.tenant))));
    connection.script("COMMIT");
    return static_cast<std::uint64_t>(note.number(0, 0));
  });
  watch_.raise(Watch::What::crash_marks, version);
}

std::vector<model::CrashMark> Duties::crash_marks() {
  const Rows rows = pool_.read([](Connection& connection) {
    return connection.query("SELECT tenant, time_ms, seq, body FROM runwarden.crash_mark ORDER BY tenant, time_ms, seq");
  });
  std::vector<model::CrashMark> marks;
  marks.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto tenant = static_cast<model::TenantId>(rows.number(row, 0));
    const model::RecordKey at = record_key(rows, row, 1);
    const KeyBytes key = place_key(tenant, at);
    model::CrashMark mark = decoded("crash_mark", key, [&] { return decode_crash_mark_value(key, rows.bytes(row, 3)); });
    mark.tenant = tenant;
    mark.key = at;
    marks.push_back(std::move(mark));
  }
  return marks;
}

}  // namespace runwarden::store::postgres
