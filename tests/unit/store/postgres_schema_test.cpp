// The schema of a database: made and raised once, by however many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "store/postgres/engine.h"
#include "store/postgres/schema.h"
#include "support/fake_clock.h"
#include "support/postgres.h"

namespace runwarden::store::postgres {
namespace {

using test::PostgresServer;

constexpr int kAtOnce = 4;
constexpr std::int64_t kDayMs = 86'400'000;

class PostgresSchemaTest : public ::testing::Test {
 protected:
  PostgresSchemaTest() { settings_.dsn = PostgresServer::shared().dsn(database_); }
  ~PostgresSchemaTest() override { PostgresServer::shared().drop_database(database_); }

  // As a program of that version left it, with the partitions of a day.
  static void make_version(Connection& connection, int version) {
    connection.script("CREATE SCHEMA runwarden");
    connection.script("CREATE TABLE runwarden.migration(version int PRIMARY KEY, compatible int NOT NULL, name text NOT NULL, sha256 bytea NOT NULL, "
                      "applied_ms bigint NOT NULL, applied_by text NOT NULL)");
    for (const SchemaStep& step : schema_steps()) {
      if (step.version > version) continue;
      connection.script(step.sql);
      connection.query("INSERT INTO runwarden.migration VALUES ($1, $2, $3, '', 0, '')", std::move(Params().i32(step.version).i32(step.compatible).text(step.name)));
    }
    for (const char* table : partitioned_tables()) {
      const std::string name = std::string("runwarden.") + table;
      if (connection.query("SELECT to_regclass($1) IS NULL", std::move(Params().text(name))).boolean(0, 0)) continue;
      connection.script("CREATE TABLE " + name + "_d0 PARTITION OF " + name + " FOR VALUES FROM (0) TO (86400000)");
    }
  }
  // Columns, indexes and constraints, whatever the latter two are called.
  static std::vector<std::string> shape(Connection& connection) {
    const Rows rows = connection.query(
        "SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default) FROM information_schema.columns WHERE table_schema = 'runwarden'"
        " UNION ALL SELECT regexp_replace(indexdef, 'INDEX \\S+ ON', 'INDEX ON') FROM pg_indexes WHERE schemaname = 'runwarden'"
        " UNION ALL SELECT concat_ws(' ', conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint WHERE connamespace = 'runwarden'::regnamespace ORDER BY 1");
    std::vector<std::string> lines;
    for (std::size_t row = 0; row < rows.size(); ++row) lines.emplace_back(rows.bytes(row, 0));
    return lines;
  }

  const std::string database_ = PostgresServer::shared().make_database();
  ConnectSettings settings_;
};

TEST_F(PostgresSchemaTest, RaisedByManyAtOnce_HasEachStepOnce) {
  std::atomic<std::size_t> done{0};
  std::vector<std::thread> processes;
  for (int i = 0; i < kAtOnce; ++i) {
    processes.emplace_back([&] {
      Connection connection(settings_);
      const auto steps = raise_schema(connection, 5);
      ASSERT_TRUE(steps.ok());
      done += steps->size();
      EXPECT_TRUE(check_schema(connection).ok());
    });
  }
  for (std::thread& process : processes) process.join();
  EXPECT_EQ(done, schema_steps().size());
}

TEST_F(PostgresSchemaTest, OpenedByManyAtOnceWhileEmpty_IsMadeOnceAndServesAll) {
  const test::FakeClock clock;
  PostgresSettings settings;
  settings.connect = settings_;
  std::vector<std::thread> hosts;
  for (int i = 0; i < kAtOnce; ++i) {
    hosts.emplace_back([&] {
      const auto store = open_postgres(settings, clock, Role::service);
      EXPECT_TRUE(store.ok()) << store.error().detail;
    });
  }
  for (std::thread& host : hosts) host.join();
}

TEST_F(PostgresSchemaTest, RaisedFromEachEarlierVersion_IsThatOfAnEmptyDatabase) {
  Connection fresh(settings_);
  make_version(fresh, kSchemaVersion);
  for (int version = 1; version < kSchemaVersion; ++version) {
    const std::string database = PostgresServer::shared().make_database();
    ConnectSettings settings = settings_;
    settings.dsn = PostgresServer::shared().dsn(database);
    {
      Connection connection(settings);
      make_version(connection, version);
      connection.script(
          "INSERT INTO runwarden.failure(tenant, time_ms, seq, run_time_ms, run_seq, detector, severity, score, shadow, fingerprint, body)"
          " VALUES (1, 5, 1, 5, 1, 'd', 1, 50, false, 'f', 'b')");
      EXPECT_FALSE(check_schema(connection).ok()) << version;
      const auto steps = raise_schema(connection, 5);
      ASSERT_TRUE(steps.ok());
      EXPECT_EQ(steps->size(), static_cast<std::size_t>(kSchemaVersion - version));
      make_partitions(connection, 0);  // of tables that came since
      EXPECT_EQ(shape(connection), shape(fresh)) << version;
      EXPECT_EQ(connection.query("SELECT count(*) FROM runwarden.failure").number(0, 0), 1);
    }
    PostgresServer::shared().drop_database(database);
  }
}

// As behind a pooler: whoever comes later waits for the table of steps, and for nothing that belongs to a session.
TEST_F(PostgresSchemaTest, StepsWaitForTheirTable) {
  Connection holder(settings_);
  make_version(holder, kSchemaVersion - 1);
  holder.script("BEGIN; LOCK TABLE runwarden.migration IN SHARE ROW EXCLUSIVE MODE");
  ConnectSettings hurried = settings_;
  hurried.answer_timeout = std::chrono::milliseconds(300);
  {
    Connection late(hurried);
    EXPECT_THROW((void)raise_schema(late, 5), PgFault);
  }
  holder.script("ROLLBACK");
  Connection again(settings_);
  EXPECT_EQ(raise_schema(again, 5)->size(), 1u);
}

// A role that owns its schema may not make others.
TEST_F(PostgresSchemaTest, SchemaThatIsThereButEmpty_IsFilledByItsOwner) {
  const std::string role = "owner_of_" + database_;
  {
    Connection admin(settings_);
    admin.script("CREATE ROLE " + role + " LOGIN; CREATE SCHEMA runwarden AUTHORIZATION " + role);
  }
  ConnectSettings as_owner = settings_;
  as_owner.words.emplace_back("user", role);
  {
    Connection connection(as_owner);
    EXPECT_EQ(connection.query("SELECT current_user::text").bytes(0, 0), role);
    EXPECT_THROW(connection.script("CREATE SCHEMA another"), PgFault);
    EXPECT_EQ(raise_schema(connection, 5)->size(), schema_steps().size());
    make_partitions(connection, 3 * kDayMs);
  }
  Connection admin(settings_);
  admin.script("DROP SCHEMA runwarden CASCADE; DROP ROLE " + role);
}

}  // namespace
}  // namespace runwarden::store::postgres
