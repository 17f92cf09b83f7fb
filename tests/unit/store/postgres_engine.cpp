// The contract's tests work on PostgreSQL, each on a database of its own. Without a server the program says so, and is skipped.
#include <gtest/gtest.h>

#include <cstdio>
#include <stdexcept>

#include "store/postgres/engine.h"
#include "support/postgres.h"
#include "unit/store/engines.h"

namespace runwarden::store {
namespace {

constexpr int kSkipped = 77;  // as CTest is told

// Databases that no test uses now. To empty one takes milliseconds, to make one a second.
class Databases {
 public:
  std::string take() {
    if (free_.empty()) return test::PostgresServer::shared().make_database();
    std::string name = std::move(free_.back());
    free_.pop_back();
    return name;
  }
  void give_back(std::string name) {
    postgres::ConnectSettings settings;
    settings.dsn = test::PostgresServer::shared().dsn(name);
    postgres::Connection connection(settings);
    const postgres::Rows tables = connection.query(
        "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'runwarden' AND c.relkind IN ('r', 'p')"
        " AND NOT c.relispartition AND c.relname NOT IN ('migration', 'counter', 'tenant')");
    std::string script = "BEGIN; SET LOCAL synchronous_commit = off;";
    for (std::size_t row = 0; row < tables.size(); ++row) script += "DELETE FROM runwarden." + std::string(tables.bytes(row, 0)) + ";";
    connection.script(script + "DELETE FROM runwarden.tenant; COMMIT");
    free_.push_back(std::move(name));
  }

 private:
  std::vector<std::string> free_;
};

Databases& databases() {
  static Databases all;
  return all;
}

class PostgresInADatabase final : public Engine {
 public:
  using Engine::open;
  ~PostgresInADatabase() override { databases().give_back(database_); }

  // One lane, so that what is committed together is one batch; times are those of the test's clock.
  std::unique_ptr<Store> open(const Clock& clock, const Limits& limits) override {
    postgres::PostgresSettings settings;
    settings.connect.dsn = test::PostgresServer::shared().dsn(database_);
    settings.write_connections = 1;
    settings.stale_after = std::chrono::seconds(30);  // a machine that stands still for a second is not what these tests are about
    settings.time = postgres::DatabaseClock::Source::host;
    settings.store.max_clusters = limits.max_clusters;
    settings.store.max_pending_messages = limits.max_pending_messages;
    settings.store.ledger = limits.ledger;
    auto store = postgres::open_postgres(settings, clock, Role::service);
    if (!store.ok()) throw std::runtime_error(store.error().detail);
    return std::move(*store);
  }

 private:
  const std::string database_ = databases().take();
};

}  // namespace

const std::vector<EngineKind>& engines() {
  static const std::vector<EngineKind> kinds{{"postgres", [] { return std::unique_ptr<Engine>(std::make_unique<PostgresInADatabase>()); }, 10}};
  return kinds;
}

}  // namespace runwarden::store

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (!runwarden::test::PostgresServer::installed()) {
    std::puts("skipped: no PostgreSQL server is installed: apt-get install postgresql-15");
    return runwarden::store::kSkipped;
  }
  return RUN_ALL_TESTS();
}
