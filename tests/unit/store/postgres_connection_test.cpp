// Statements over a connection to a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "store/postgres/connection.h"
#include "store/postgres/dsn.h"
#include "store/postgres/fault.h"
#include "store/postgres/params.h"
#include "store/postgres/pool.h"
#include "store/postgres/rows.h"
#include "store/postgres/schema.h"
#include "support/postgres.h"

namespace runwarden::store::postgres {
namespace {

using test::PostgresServer;

bool takes_plaintext(const std::string& hosts) {
  PostgresTarget place;
  place.dsn = hosts + " user=runwarden dbname=runwarden sslmode=disable";
  return connect_settings(place).ok();
}

TEST(PostgresDsn, Plaintext_IsForThisMachineOnly) {
  for (const char* here : {"host=localhost", "host=127.0.0.1", "host=127.1.2.3", "host=::1", "host=/run/postgresql",
                           "host=db.example.invalid hostaddr=127.0.0.1", "host=db.example.invalid,localhost hostaddr=127.0.0.1,"}) {
    EXPECT_TRUE(takes_plaintext(here)) << here;
  }
  for (const char* elsewhere :
       {"host=192.0.2.7", "host=localhost,192.0.2.7", "host=localhost hostaddr=192.0.2.7", "host=127.db.example.invalid",
        "host=192.0.2.7,localhost hostaddr=,127.0.0.1", "host=localhost,192.0.2.7 hostaddr=127.0.0.1,"}) {
    EXPECT_FALSE(takes_plaintext(elsewhere)) << elsewhere;
  }
}

class PostgresConnectionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    database_ = PostgresServer::shared().make_database();
    settings_.dsn = PostgresServer::shared().dsn(database_);
  }
  ConnectSettings settings_;
  std::string database_;
};

TEST_F(PostgresConnectionTest, Values_ComeBackAsTheyWere) {
  Connection connection(settings_);
  const std::string bytes("\0\xFF'\\", 4);
  const Rows rows = connection.query("SELECT $1, $2, $3, $4, $5, $6, $7",
                                     std::move(Params().i16(-3).i32(std::numeric_limits<std::int32_t>::min()).i64(std::numeric_limits<std::int64_t>::max()).boolean(true).text("\xC3\xA9").bytes(bytes).i64_or_null(std::nullopt)));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.number(0, 0), -3);
  EXPECT_EQ(rows.number(0, 1), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(rows.number(0, 2), std::numeric_limits<std::int64_t>::max());
  EXPECT_TRUE(rows.boolean(0, 3));
  EXPECT_EQ(rows.bytes(0, 4), "\xC3\xA9");
  EXPECT_EQ(rows.bytes(0, 5), bytes);
  EXPECT_TRUE(rows.is_null(0, 6));
}

TEST_F(PostgresConnectionTest, Arrays_AreUnnested) {
  Connection connection(settings_);
  const std::vector<std::int64_t> numbers{5, -1};
  const std::vector<std::string> texts{"a,b", "{\"c\"}"};
  const std::vector<std::string> bytes{std::string("\0", 1), ""};
  const Rows rows = connection.query("SELECT * FROM unnest($1, $2, $3)", std::move(Params().i64s(numbers).texts(texts).byteas(bytes)));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.number(1, 0), -1);
  EXPECT_EQ(rows.bytes(1, 1), "{\"c\"}");
  EXPECT_EQ(rows.bytes(0, 2), std::string("\0", 1));
  EXPECT_EQ(connection.query("SELECT * FROM unnest($1)", std::move(Params().i64s({}))).size(), 0u);
}

TEST_F(PostgresConnectionTest, FaultInAPipeline_NamesItsStateAndTheConnectionGoesOn) {
  Connection connection(settings_);
  const std::vector<Connection::Statement> statements{{"BEGIN"}, {"SELECT 1"}, {"SELECT 1 / $1", std::move(Params().i32(0))}, {"COMMIT"}};
  try {
    connection.run(statements);
    FAIL() << "nothing was divided by zero";
  } catch (const PgFault& fault) {
    EXPECT_EQ(fault.sqlstate, "22012");
    EXPECT_EQ(fault.kind, PgFault::Kind::data);
  }
  connection.rollback();
  EXPECT_EQ(connection.query("SELECT 7").number(0, 0), 7);
  EXPECT_EQ(connection.query("SELECT 1 / $1", std::move(Params().i32(1))).number(0, 0), 1);
}

TEST_F(PostgresConnectionTest, WhatIsForLater_GoesAheadOfWhatIsRunNext_AndIsForgottenByARollback) {
  Connection connection(settings_);
  connection.script("CREATE TABLE t(n int)");
  connection.later({{"BEGIN"}, {"INSERT INTO t VALUES (1)"}});
  EXPECT_FALSE(connection.in_transaction());
  EXPECT_EQ(connection.query("SELECT count(*) FROM t").number(0, 0), 1) << "the answer is that of the query";
  connection.later({{"INSERT INTO t VALUES (2)"}});
  connection.rollback();
  EXPECT_EQ(connection.query("SELECT count(*) FROM t").number(0, 0), 0);
  connection.later({{"SELECT 1 / (SELECT count(*) FROM t)"}});
  EXPECT_THROW(connection.query("INSERT INTO t VALUES (3)"), PgFault) << "what fails ahead of it ends it";
  EXPECT_EQ(connection.query("SELECT count(*) FROM t").number(0, 0), 0);
}

TEST_F(PostgresConnectionTest, ConnectionThatIsCut_IsLost) {
  Connection connection(settings_);
  PostgresServer::shared().cut_connections(database_);
  try {
    connection.query("SELECT 1");
    FAIL() << "it was not cut";
  } catch (const PgFault& fault) {
    EXPECT_TRUE(connection.lost()) << fault.what();
  }
  EXPECT_THROW(connection.query("SELECT 1"), PgFault);
}

TEST_F(PostgresConnectionTest, PoolAfterACut_ReadsOnAFreshConnection) {
  Pool pool(settings_, 2);
  const auto one = [](Connection& connection) { return connection.query("SELECT 1").number(0, 0); };
  EXPECT_EQ(pool.read(one), 1);
  PostgresServer::shared().cut_connections(database_);
  EXPECT_EQ(pool.read(one), 1);
}

// The server's words name tables, and may name the server's place: they are for the log.
TEST_F(PostgresConnectionTest, FaultOfTheServer_IsNoFaultOfARecord_AndIsReportedToTheOperatorOnly) {
  Pool pool(settings_, 2);
  std::vector<std::string> reported;
  pool.report_to([&](const std::string& text) { reported.push_back(text); });
  for (int i = 0; i < 3; ++i) {
    try {
      pool.read([](Connection& connection) { return connection.query("SELECT * FROM runwarden.nowhere"); });
      ADD_FAILURE();
    } catch (const StoreAway&) {
      ADD_FAILURE() << "a retry cannot help";
    } catch (const EngineFault& fault) {
      EXPECT_EQ(fault.client_text, "the database reported an error (SQLSTATE 42P01)");
    }
  }
  ASSERT_EQ(reported.size(), 1u);
  EXPECT_THAT(reported[0], ::testing::HasSubstr("runwarden.nowhere"));
}

TEST_F(PostgresConnectionTest, CanceledRead_IsWorthARetry) {
  Pool pool(settings_, 2);
  const auto canceled = [&] {
    pool.read([](Connection& connection) {
      connection.script("BEGIN; SET LOCAL statement_timeout = 1");
      return connection.query("SELECT pg_sleep(10)");
    });
  };
  EXPECT_THROW(canceled(), StoreAway);
  EXPECT_EQ(pool.read([](Connection& connection) { return connection.query("SELECT 1").number(0, 0); }), 1);
}

TEST_F(PostgresConnectionTest, FaultOfAConnect_IsOneLine_AndNamesNoPlaceToClients) {
  settings_.dsn = "host=/nowhere/at/all dbname=d";
  try {
    Connection connection(settings_);
    FAIL();
  } catch (const PgFault& fault) {
    EXPECT_THAT(operator_text(fault), ::testing::HasSubstr("/nowhere/at/all"));
    EXPECT_EQ(operator_text(fault).find_first_of("\t\n"), std::string::npos) << operator_text(fault);
    EXPECT_EQ(client_text(fault), "the database is unreachable");
  }
}

TEST_F(PostgresConnectionTest, Schema_IsMadeOnceAndRecognised) {
  Connection connection(settings_);
  EXPECT_FALSE(check_schema(connection).ok());
  EXPECT_THAT(*raise_schema(connection, 5), ::testing::SizeIs(schema_steps().size()));
  EXPECT_THAT(*raise_schema(connection, 5), ::testing::IsEmpty());
  EXPECT_TRUE(check_schema(connection).ok());
  make_partitions(connection, 1'790'000'000'000);
  make_partitions(connection, 1'790'000'000'001);
  make_partitions(connection, -1);
}

// An export or import may read and write for hours: nobody else may have to wait for it.
TEST_F(PostgresConnectionTest, PartitionsAreMade_BesideTransactionsThatUseTheTables) {
  Connection connection(settings_);
  ASSERT_TRUE(raise_schema(connection, 5).ok());
  make_partitions(connection, 0);
  Connection reader(settings_);
  reader.script("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM runwarden.run; SELECT * FROM runwarden.migration");
  Connection writer(settings_);
  writer.script("BEGIN; INSERT INTO runwarden.event_id VALUES (1, 0, 1, 'h')");
  ConnectSettings hurried = settings_;
  hurried.answer_timeout = std::chrono::seconds(5);
  Connection maker(hurried);
  make_partitions(maker, 86'400'000);
  writer.script("INSERT INTO runwarden.event_id VALUES (1, 86400000, 1, 'h'); COMMIT");
}

}  // namespace
}  // namespace runwarden::store::postgres
