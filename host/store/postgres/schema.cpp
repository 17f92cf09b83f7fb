#include "store/postgres/schema.h"

#include "base/digest.h"
#include "model/failure_record.h"
#include "model/opinion.h"
#include "store/postgres/fault.h"
#include "store/postgres/row.h"

namespace runwarden::store::postgres {
namespace {

constexpr int kMostTries = 5;
constexpr const char* kUniqueViolation = "23505";
constexpr const char* kDuplicateSchema = "42P06";
constexpr const char* kDuplicateTable = "42P07";

// The table that records the steps is made before the first of them, because it is their lock, too. Poolers and PostgreSQL-compatible
// databases have no other lock that outlives a statement.
constexpr const char* kMakeMigrations = R"sql(
CREATE TABLE IF NOT EXISTS runwarden.migration(
  version int PRIMARY KEY, compatible int NOT NULL, name text NOT NULL, sha256 bytea NOT NULL, applied_ms bigint NOT NULL, applied_by text NOT NULL);
)sql";
constexpr const char* kBeginAlone = "BEGIN; SET LOCAL synchronous_commit = on; LOCK TABLE runwarden.migration IN SHARE ROW EXCLUSIVE MODE";

// The key of every record begins with its tenant; times are UTC milliseconds. `body` is a value sealed by the codecs of store/.
constexpr const char* kFirst = R"sql(
CREATE TABLE runwarden.counter(name text PRIMARY KEY, value bigint NOT NULL);
INSERT INTO runwarden.counter VALUES ('start', 0), ('tenant', 0), ('note', 0), ('clock_accepts', 0);
CREATE TABLE runwarden.secret(name text PRIMARY KEY, value bytea NOT NULL);
CREATE TABLE runwarden.host(start bigint PRIMARY KEY, name text NOT NULL, version text NOT NULL, seen_ms bigint NOT NULL);
CREATE TABLE runwarden.duty(name text PRIMARY KEY, start bigint NOT NULL, token bigint NOT NULL, until_ms bigint NOT NULL, done_ms bigint NOT NULL DEFAULT 0);
CREATE TABLE runwarden.lane(
  start bigint NOT NULL, lane int NOT NULL, epoch bigint NOT NULL, batch bigint NOT NULL, open_runs bigint NOT NULL, PRIMARY KEY(start, lane))
  WITH (fillfactor=10, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_scale_factor=0);
CREATE TABLE runwarden.tenant(tenant int PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE);
CREATE TABLE runwarden.api_key(id text COLLATE "C" PRIMARY KEY, tenant int NOT NULL REFERENCES runwarden.tenant, name text NOT NULL, scopes smallint NOT NULL,
  digest bytea NOT NULL UNIQUE CHECK(octet_length(digest)=32), created_ms bigint NOT NULL, expires_ms bigint, revoked_ms bigint,
  revoked_at_once bool NOT NULL DEFAULT false);
CREATE TABLE runwarden.key_use(id text COLLATE "C" PRIMARY KEY, used_ms bigint NOT NULL);
CREATE TABLE runwarden.note(what smallint NOT NULL, tenant int NOT NULL, version bigint NOT NULL, PRIMARY KEY(what, tenant));
CREATE INDEX note_version ON runwarden.note(version);
CREATE TABLE runwarden.canary(name text PRIMARY KEY, time_ms bigint NOT NULL, body bytea NOT NULL);

CREATE TABLE runwarden.head(tenant int NOT NULL, run_id text COLLATE "C" NOT NULL, time_ms bigint NOT NULL, seq bigint NOT NULL,
  PRIMARY KEY(tenant, run_id)) WITH (autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX head_time ON runwarden.head USING brin(time_ms);
CREATE TABLE runwarden.open_run(
  tenant int NOT NULL, run_id text COLLATE "C" NOT NULL, time_ms bigint NOT NULL, seq bigint NOT NULL, revision int NOT NULL,
  first_ms bigint NOT NULL, last_ms bigint NOT NULL, total int NOT NULL, former int NOT NULL, bytes bigint NOT NULL,
  ending smallint, cut int, tail_final bool NOT NULL, token bigint NOT NULL DEFAULT 0, due_ms bigint NOT NULL,
  awaits smallint NOT NULL, root_ms bigint, body bytea NOT NULL,
  PRIMARY KEY(tenant, run_id)) WITH (fillfactor=50, autovacuum_vacuum_threshold=500, autovacuum_vacuum_scale_factor=0.01);
CREATE INDEX open_run_due ON runwarden.open_run(due_ms);
CREATE INDEX open_run_place ON runwarden.open_run(tenant, time_ms, seq);
CREATE TABLE runwarden.idempotency(tenant int NOT NULL, identity bytea NOT NULL, content bytea NOT NULL, created_ms bigint NOT NULL, kind smallint NOT NULL,
  time_ms bigint NOT NULL, seq bigint NOT NULL, revision int NOT NULL, answer bytea, PRIMARY KEY(tenant, identity)) WITH (autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX idempotency_created ON runwarden.idempotency USING brin(created_ms);

CREATE TABLE runwarden.run(tenant int NOT NULL, time_ms bigint NOT NULL, seq bigint NOT NULL, run_id text COLLATE "C" NOT NULL, revision int NOT NULL,
  state smallint NOT NULL, source smallint NOT NULL, max_score smallint NOT NULL, fired text[] NOT NULL, content bytea NOT NULL, body bytea NOT NULL,
  PRIMARY KEY(tenant, time_ms, seq)) PARTITION BY RANGE(time_ms);
ALTER TABLE runwarden.run ALTER body SET STORAGE EXTERNAL;
CREATE INDEX run_scored ON runwarden.run(tenant, time_ms, seq) WHERE max_score > 0;
CREATE INDEX run_open ON runwarden.run(tenant, time_ms, seq) WHERE state = 0;
CREATE TABLE runwarden.former(tenant int NOT NULL, time_ms bigint NOT NULL, seq bigint NOT NULL, revision int NOT NULL, body bytea NOT NULL,
  PRIMARY KEY(tenant, time_ms, seq, revision)) PARTITION BY RANGE(time_ms);
ALTER TABLE runwarden.former ALTER body SET STORAGE EXTERNAL;
CREATE TABLE runwarden.event(
  tenant int NOT NULL, time_ms bigint NOT NULL, seq bigint NOT NULL, first int NOT NULL, count int NOT NULL, received_ms bigint NOT NULL,
  bytes bigint NOT NULL, body bytea NOT NULL, PRIMARY KEY(tenant, time_ms, seq, first)) PARTITION BY RANGE(time_ms);
ALTER TABLE runwarden.event ALTER body SET STORAGE EXTERNAL;
CREATE TABLE runwarden.event_id(tenant int NOT NULL, time_ms bigint NOT NULL, seq bigint NOT NULL, half bytea NOT NULL,
  PRIMARY KEY(tenant, time_ms, seq, half)) PARTITION BY RANGE(time_ms);
CREATE TABLE runwarden.failure(tenant int NOT NULL, time_ms bigint NOT NULL, seq bigint NOT NULL, run_time_ms bigint NOT NULL, run_seq bigint NOT NULL,
  detector text COLLATE "C" NOT NULL, severity smallint NOT NULL, score smallint NOT NULL, shadow bool NOT NULL, fingerprint bytea NOT NULL,
  body bytea NOT NULL, reviewed smallint NOT NULL DEFAULT 0, false_alarm bool NOT NULL GENERATED ALWAYS AS (reviewed = 2) STORED,
  PRIMARY KEY(tenant, time_ms, seq)) PARTITION BY RANGE(time_ms);
ALTER TABLE runwarden.failure ALTER body SET STORAGE EXTERNAL;
CREATE INDEX failure_kind ON runwarden.failure(tenant, fingerprint, time_ms, seq) INCLUDE (false_alarm) WHERE NOT shadow;
CREATE INDEX failure_run ON runwarden.failure(tenant, run_time_ms, run_seq);

CREATE TABLE runwarden.change(tenant int NOT NULL, time_ms bigint NOT NULL, seq bigint NOT NULL, kind text COLLATE "C" NOT NULL, received_ms bigint NOT NULL,
  body bytea NOT NULL, PRIMARY KEY(tenant, time_ms, seq));
CREATE TABLE runwarden.policy(tenant int NOT NULL, policy text COLLATE "C" NOT NULL, revision text COLLATE "C" NOT NULL, time_ms bigint NOT NULL, seq bigint NOT NULL,
  author text NOT NULL, content bytea NOT NULL, received_ms bigint NOT NULL, body bytea NOT NULL, PRIMARY KEY(tenant, policy, revision));
CREATE INDEX policy_time ON runwarden.policy(tenant, time_ms, seq);
CREATE TABLE runwarden.policy_head(tenant int NOT NULL, policy text COLLATE "C" NOT NULL, highest numeric NOT NULL, PRIMARY KEY(tenant, policy));
CREATE TABLE runwarden.crash_mark(tenant int NOT NULL, time_ms bigint NOT NULL, seq bigint NOT NULL, body bytea NOT NULL, PRIMARY KEY(tenant, time_ms, seq));
)sql";

// Groups of failures, dimension values, the log of commits, webhooks. Only the head of a group is stored; counts by time are made from
// failures and runs. A value's number is valid for one stretch of 2^28 ms: the first 200 values of a stretch get one, the others are
// counted under that of "(other)". A delivery is leased to one host until lease_ms; a removed webhook stays until its deliveries are gone.
constexpr const char* kGroups = R"sql(
CREATE TABLE runwarden.cluster(tenant int NOT NULL, half bytea NOT NULL, failures bigint NOT NULL, body bytea NOT NULL, PRIMARY KEY(tenant, half))
  WITH (fillfactor=50, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_scale_factor=0.02);
CREATE TABLE runwarden.cluster_total(tenant int PRIMARY KEY, clusters bigint NOT NULL, left_out bigint NOT NULL) WITH (fillfactor=10);
CREATE TABLE runwarden.triage(tenant int NOT NULL, half bytea NOT NULL, time_ms bigint NOT NULL, seq bigint NOT NULL, body bytea NOT NULL,
  PRIMARY KEY(tenant, half, time_ms, seq));
CREATE INDEX triage_time ON runwarden.triage(time_ms);
CREATE INDEX failure_affected ON runwarden.failure(tenant, fingerprint, run_time_ms, run_seq) INCLUDE (false_alarm) WHERE NOT shadow;
CREATE INDEX failure_detector ON runwarden.failure(tenant, detector, time_ms) INCLUDE (false_alarm) WHERE NOT shadow;

CREATE TABLE runwarden.dimension_stretch(tenant int NOT NULL, dimension bytea NOT NULL, stretch bigint NOT NULL, numbered int NOT NULL,
  PRIMARY KEY(tenant, dimension, stretch));
CREATE TABLE runwarden.dimension_value(tenant int NOT NULL, dimension bytea NOT NULL, stretch bigint NOT NULL, value bytea NOT NULL,
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY, PRIMARY KEY(tenant, dimension, stretch, value));
CREATE TABLE runwarden.run_dimension(tenant int NOT NULL, value_id bigint NOT NULL, time_ms bigint NOT NULL, seq bigint NOT NULL,
  PRIMARY KEY(tenant, value_id, time_ms, seq)) PARTITION BY RANGE(time_ms);

CREATE TABLE runwarden.commit_last(tenant int PRIMARY KEY, last bigint NOT NULL)
  WITH (fillfactor=10, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_scale_factor=0);
CREATE TABLE runwarden.commit_log(tenant int NOT NULL, first bigint NOT NULL, count int NOT NULL, body bytea NOT NULL, PRIMARY KEY(tenant, first))
  WITH (autovacuum_vacuum_threshold=1000, autovacuum_vacuum_scale_factor=0);

CREATE TABLE runwarden.endpoint(tenant int NOT NULL, seq bigint NOT NULL, removed bool NOT NULL, disabled smallint NOT NULL, body bytea NOT NULL,
  PRIMARY KEY(tenant, seq))
  WITH (fillfactor=50, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_scale_factor=0);
CREATE TABLE runwarden.delivery(tenant int NOT NULL, endpoint bigint NOT NULL, time_ms bigint NOT NULL, seq bigint NOT NULL, state smallint NOT NULL,
  due_ms bigint NOT NULL, leased_by bigint NOT NULL DEFAULT 0, lease_ms bigint NOT NULL DEFAULT 0, body bytea NOT NULL,
  PRIMARY KEY(tenant, endpoint, time_ms, seq)) WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX delivery_due ON runwarden.delivery(tenant, endpoint, due_ms, seq) WHERE state = 0;
CREATE INDEX delivery_dead ON runwarden.delivery(tenant, endpoint, time_ms, seq) WHERE state = 2;
)sql";

// Reviews of failures, and of runs, which have no place of a failure. The last review of a subject counts. `reviewed` of a failure is the
// verdict of its last review, so that counting does not have to read this table.
constexpr const char* kReviews = R"sql(
CREATE TABLE runwarden.review(tenant int NOT NULL, time_ms bigint NOT NULL, seq bigint NOT NULL, run_time_ms bigint NOT NULL, run_seq bigint NOT NULL,
  subject bytea NOT NULL, failure_ms bigint, failure_seq bigint, detector text COLLATE "C" NOT NULL, version text COLLATE "C" NOT NULL,
  settings text COLLATE "C" NOT NULL, verdict smallint NOT NULL, body bytea NOT NULL, PRIMARY KEY(tenant, time_ms, seq));
CREATE INDEX review_subject ON runwarden.review(tenant, run_time_ms, run_seq, subject, time_ms, seq);
CREATE INDEX review_failure ON runwarden.review(tenant, failure_ms, failure_seq, time_ms, seq);
CREATE INDEX failure_reviewed ON runwarden.failure(tenant, reviewed, time_ms, seq) WHERE reviewed <> 0;
)sql";
static_assert(static_cast<int>(model::ReviewVerdict::false_alarm) == 2, "a column of failures says so");

// Ledgers. `size` is that of the head in `body`; the entries of a transaction are one row. `told`: the size of the latest checkpoint that
// was sent to webhooks. `since`: the start since which every record has an entry. `database`: where this is, so that a copy is recognized.
constexpr const char* kLedgers = R"sql(
CREATE TABLE runwarden.ledger_state(one bool PRIMARY KEY CHECK(one), state smallint NOT NULL, since bigint NOT NULL, public_key bytea NOT NULL, database text NOT NULL);
CREATE TABLE runwarden.ledger(tenant int PRIMARY KEY, origin text NOT NULL, size bigint NOT NULL, body bytea NOT NULL)
  WITH (fillfactor=10, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_scale_factor=0);
CREATE TABLE runwarden.ledger_entry(tenant int NOT NULL, first bigint NOT NULL, body bytea NOT NULL, PRIMARY KEY(tenant, first));
ALTER TABLE runwarden.ledger_entry ALTER body SET STORAGE EXTERNAL;
CREATE TABLE runwarden.ledger_subtree(tenant int NOT NULL, height smallint NOT NULL, number bigint NOT NULL, body bytea NOT NULL, PRIMARY KEY(tenant, height, number));
CREATE TABLE runwarden.ledger_record(tenant int NOT NULL, kind smallint NOT NULL, name bytea NOT NULL, body bytea NOT NULL, PRIMARY KEY(tenant, kind, name))
  WITH (autovacuum_vacuum_scale_factor=0.02);
CREATE TABLE runwarden.ledger_body(tenant int NOT NULL, entry bigint NOT NULL, body bytea NOT NULL, PRIMARY KEY(tenant, entry));
CREATE TABLE runwarden.ledger_checkpoint(tenant int PRIMARY KEY, origin text NOT NULL, size bigint NOT NULL, root bytea NOT NULL, by_both_keys bool NOT NULL,
  told bigint NOT NULL);
)sql";

// Questions to a model about runs. `state` is model::OpinionState; `due_ms` is when a waiting one may be claimed, each under its own token.
constexpr const char* kOpinions = R"sql(
CREATE TABLE runwarden.opinion(tenant int NOT NULL, time_ms bigint NOT NULL, seq bigint NOT NULL, run_time_ms bigint NOT NULL, run_seq bigint NOT NULL,
  detector text COLLATE "C" NOT NULL, of_alarm bool NOT NULL, state smallint NOT NULL, due_ms bigint NOT NULL, token bigint NOT NULL, body bytea NOT NULL,
  PRIMARY KEY(tenant, time_ms, seq)) WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX opinion_run ON runwarden.opinion(tenant, run_time_ms, run_seq);
CREATE INDEX opinion_due ON runwarden.opinion(due_ms) WHERE state = 0;
CREATE INDEX opinion_dead ON runwarden.opinion(time_ms) WHERE state = 4;
)sql";
static_assert(static_cast<int>(model::OpinionState::waiting) == 0 && static_cast<int>(model::OpinionState::dead) == 4, "indexes say so");

// Whether a review is of a failure that a model made of a candidate.
constexpr const char* kCandidatesReviewed = R"sql(
ALTER TABLE runwarden.review ADD COLUMN of_candidate bool NOT NULL DEFAULT false;
)sql";

std::string partition_name(const char* table, std::int64_t day) {
  return std::string("runwarden.") + table + (day < 0 ? "_b" : "_d") + std::to_string(day < 0 ? -day : day);
}

// Attached, because creating it as a partition would wait for every transaction that uses the table, and block all later ones.
std::string partition_sql(const char* table, std::int64_t day) {
  const std::string name = partition_name(table, day);
  return "CREATE TABLE " + name + " (LIKE runwarden." + table +
         " INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED INCLUDING STORAGE) WITH (toast_tuple_target=8160);\n" +
         "ALTER TABLE runwarden." + table + " ATTACH PARTITION " + name + " FOR VALUES FROM (" + std::to_string(day * kDayMs) + ") TO (" +
         std::to_string((day + 1) * kDayMs) + ");\n";
}

bool is_there(Connection& connection, const std::string& table) {
  return !connection.query("SELECT to_regclass($1) IS NULL", std::move(Params().text(table))).boolean(0, 0);
}

// Two processes may both find that it is missing; the slower one finds it on the next try. A role may own the schema and yet lack the right
// to create one in this database.
void make_migrations(Connection& connection) {
  for (int tries = 1;; ++tries) {
    try {
      const bool is_missing = connection.query("SELECT to_regnamespace('runwarden') IS NULL").boolean(0, 0);
      return connection.script((is_missing ? "CREATE SCHEMA runwarden;" : "") + std::string(kMakeMigrations));
    } catch (const PgFault& fault) {
      const bool made_meanwhile =
          fault.sqlstate == kUniqueViolation || fault.sqlstate == kDuplicateSchema || fault.sqlstate == kDuplicateTable;
      if (!made_meanwhile || tries == kMostTries) throw;
    }
  }
}

void do_step(Connection& connection, const SchemaStep& step, std::int64_t now_ms) {
  connection.script(step.sql);
  connection.query("INSERT INTO runwarden.migration VALUES ($1, $2, $3, $4, $5, current_user)",
                   std::move(Params().i32(step.version).i32(step.compatible).text(step.name).bytes(view(sha256(step.sql))).i64(now_ms)));
}

}  // namespace

std::int64_t day_of(std::int64_t time_ms) {
  const std::int64_t day = time_ms / kDayMs;
  return time_ms % kDayMs < 0 ? day - 1 : day;
}

const std::vector<SchemaStep>& schema_steps() {
  static const std::vector<SchemaStep> steps = {{1, 1, "records", kFirst},     {2, 2, "groups", kGroups},
                                                {3, 3, "reviews", kReviews},   {4, 4, "ledger", kLedgers},
                                                {5, 5, "opinions", kOpinions}, {6, 6, "candidates reviewed", kCandidatesReviewed}};
  return steps;
}

const std::vector<const char*>& partitioned_tables() {
  static const std::vector<const char*> tables = {"run", "former", "event", "event_id", "failure", "run_dimension"};
  return tables;
}

SchemaState schema_state(Connection& connection) {
  if (connection.query("SELECT to_regclass('runwarden.migration') IS NOT NULL").boolean(0, 0) == false) return {};
  const Rows rows = connection.query("SELECT version, compatible FROM runwarden.migration ORDER BY version DESC LIMIT 1");
  if (rows.empty()) return {};
  return {static_cast<int>(rows.number(0, 0)), static_cast<int>(rows.number(0, 1))};
}

Status check_schema(Connection& connection) {
  const SchemaState state = schema_state(connection);
  if (state.version < kSchemaVersion) {
    return Error{Code::unavailable,
                 "the database has schema " + std::to_string(state.version) + ", but this program needs " + std::to_string(kSchemaVersion) +
                     "; run `runwarden migrate`",
                 {},
                 {}};
  }
  if (state.compatible > kSchemaVersion) {
    return Error{Code::unavailable,
                 "the database has schema " + std::to_string(state.version) + ", which requires a newer runwarden than this one (schema " +
                     std::to_string(kSchemaVersion) + "); upgrade this host",
                 {},
                 {}};
  }
  return Nothing{};
}

std::vector<int> changed_steps(Connection& connection) {
  std::vector<int> changed;
  const Rows rows = connection.query("SELECT version, sha256 FROM runwarden.migration ORDER BY version");
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::int64_t version = rows.number(row, 0);
    const auto known =
        std::find_if(schema_steps().begin(), schema_steps().end(), [&](const SchemaStep& one) { return one.version == version; });
    if (known != schema_steps().end() && rows.bytes(row, 1) != view(sha256(known->sql))) changed.push_back(known->version);
  }
  return changed;
}

std::vector<SchemaStep> make_schema(Connection& connection, std::int64_t now_ms) {
  make_migrations(connection);
  std::vector<SchemaStep> done;
  connection.script(kBeginAlone);
  if (schema_state(connection).version == 0) {
    for (const SchemaStep& step : schema_steps()) {
      do_step(connection, step, now_ms);
      done.push_back(step);
    }
  }
  connection.script("COMMIT");
  return done;
}

Result<std::vector<SchemaStep>> raise_schema(Connection& connection, std::int64_t now_ms) {
  const SchemaState before = schema_state(connection);
  if (before.compatible > kSchemaVersion) return std::move(check_schema(connection).error());
  std::vector<SchemaStep> done;
  if (before.version == 0) done = make_schema(connection, now_ms);
  for (const SchemaStep& step : schema_steps()) {
    if (step.version <= schema_state(connection).version) continue;
    connection.script(kBeginAlone);
    if (schema_state(connection).version < step.version) {  // otherwise another process did it meanwhile
      do_step(connection, step, now_ms);
      done.push_back(step);
    }
    connection.script("COMMIT");
  }
  return done;
}

void make_partitions(Connection& connection, std::int64_t time_ms) {
  const std::int64_t day = day_of(time_ms);
  connection.script(kBeginAlone);
  std::string sql;
  for (const char* table : partitioned_tables()) {
    if (!is_there(connection, partition_name(table, day))) sql += partition_sql(table, day);
  }
  connection.script(sql + "COMMIT");
}

std::vector<Partition> partitions(Connection& connection) {
  const Rows rows = connection.query(
      "SELECT c.relname::text, substring(c.relname from '_([bd])[0-9]+$'), substring(c.relname from '_[bd]([0-9]+)$')::bigint FROM "
      "pg_inherits i"
      " JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_namespace n ON n.oid = c.relnamespace"
      " WHERE n.nspname = 'runwarden' AND c.relkind = 'r' AND c.relname ~ '_[bd][0-9]+$' ORDER BY c.relname");
  std::vector<Partition> partitions;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::int64_t day = rows.bytes(row, 1) == "b" ? -rows.number(row, 2) : rows.number(row, 2);
    partitions.push_back({"runwarden." + std::string(rows.bytes(row, 0)), (day + 1) * kDayMs});
  }
  return partitions;
}

}  // namespace runwarden::store::postgres
