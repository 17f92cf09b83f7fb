// Ledgers that several hosts keep in one database: one key, one history, and what is found wrong with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <utility>

#include "filled_store.h"
#include "ledger/bodies.h"
#include "ledger_reading.h"
#include "store/ledger_codec.h"
#include "store/postgres/engine.h"
#include "store/postgres/ledger_writer.h"
#include "store/postgres/maintenance/postgres_maintenance.h"
#include "support/postgres.h"

namespace runwarden::store::postgres {
namespace {

using test::PostgresServer;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Ledger = StoreSettings::Ledger;

class PostgresLedgerTest : public ::testing::Test, protected FillsStores {
 protected:
  PostgresLedgerTest() { settings_.connect.dsn = PostgresServer::shared().dsn(database_); }
  ~PostgresLedgerTest() override { PostgresServer::shared().drop_database(database_); }

  std::unique_ptr<Store> open(Ledger ledger = Ledger::on, std::size_t lanes = 1) {
    settings_.time = DatabaseClock::Source::host;
    settings_.write_connections = lanes;
    settings_.store.ledger = ledger;
    auto store = open_postgres(settings_, clock_, Role::service);
    if (!store.ok()) throw std::runtime_error(store.error().detail);
    return std::move(*store);
  }
  void change(const std::string& sql) { Connection(settings_.connect).script(sql); }
  // What verify finds wrong with ledgers, each as table and detail.
  std::vector<std::pair<std::string, std::string>> faults() {
    const auto verified = verify(settings_.connect, {{}, clock_, {}});
    if (!verified.ok()) throw std::runtime_error(verified.error().detail);
    std::vector<std::pair<std::string, std::string>> all;
    for (const StoreFault& fault : verified->first_ones) {
      if (fault.table.starts_with("ledger") || fault.detail.find("ledger") != std::string::npos) all.emplace_back(fault.table, fault.detail);
    }
    return all;
  }
  void expect_fault(const std::string& table, const std::string& detail) {
    EXPECT_THAT(faults(), Contains(::testing::Pair(table, HasSubstr(detail))));
  }

  const std::string database_ = PostgresServer::shared().make_database();
  PostgresSettings settings_;
};

TEST_F(PostgresLedgerTest, ChangesOfOneTimeFromSeveralHosts_HaveTheirEntries) {
  const auto one = open();
  const auto other = open();
  const model::TenantId tenant = new_tenant(*one, "acme");
  for (Store* const host : {other.get(), one.get()}) {
    ChangeWrite write{tenant, {}, std::nullopt};
    write.change.key = {1'000, host->next_seq()};
    write.change.id = model::make_change_id(write.change.key);
    write.change.kind = "code";
    write.change.document = "{}";
    const WriteResult stored = test::commit(*host, write);
    EXPECT_EQ(stored.outcome, WriteResult::Outcome::stored);
    EXPECT_EQ(stored.change.has_value(), host == one.get()) << "it has a number after the other's";
  }
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(PostgresLedgerTest, HostsThatWriteAtOnce_KeepOneHistory) {
  const auto one = open(Ledger::on, 3);
  const auto other = open(Ledger::on, 3);
  const model::TenantId tenants[] = {new_tenant(*one, "acme"), new_tenant(*one, "other")};
  const auto write = [&](Store& store) {
    for (int round = 0; round < 20; ++round) {
      std::vector<Write> writes;
      for (int i = 0; i < 6; ++i) {
        RunWrite run = sample_run(tenants[i % 2], {clock_.wall_ms(), store.next_seq()});
        run.failures.push_back(sample_failure({clock_.wall_ms(), store.next_seq()}, "false_success", 95, "f" + std::to_string(i % 3)));
        writes.emplace_back(std::move(run));
      }
      for (const WriteResult& result : test::commit_together(store, writes)) EXPECT_EQ(result.outcome, WriteResult::Outcome::stored) << result.detail;
    }
  };
  std::thread beside([&] { write(*other); });
  write(*one);
  beside.join();
  for (const model::TenantId tenant : tenants) {
    EXPECT_EQ(entries(*one, tenant).size(), 120U);
    EXPECT_EQ(wrong(*one, tenant), "");
    EXPECT_EQ(other->ledger().checkpoint(tenant).note, one->ledger().checkpoint(tenant).note);
    EXPECT_THAT(faults(), IsEmpty());
  }
}

TEST_F(PostgresLedgerTest, AKeyThatOneChanges_TheOtherSignsWith) {
  const auto one = open();
  const auto other = open();
  const model::TenantId tenant = new_tenant(*one);
  commit(*one, sample_run(tenant, new_key(*one)));
  const std::string before = other->ledger().public_key();
  EXPECT_EQ(other->ledger().checkpoint(tenant).public_key, before);
  EXPECT_EQ(one->ledger().public_key(), before);
  const std::string after = one->ledger().rotate_key();
  EXPECT_EQ(other->ledger().public_key(), after);
  const auto next = *ledger::read_note(other->ledger().checkpoint(tenant).note);
  EXPECT_TRUE(next.is_signed_by(after));
  EXPECT_TRUE(next.is_signed_by(before)) << "once, with both";
  const auto again = *ledger::read_note(one->ledger().checkpoint(tenant).note);
  EXPECT_TRUE(again.is_signed_by(before)) << "the same checkpoint";
  commit(*other, sample_run(tenant, new_key(*other)));
  EXPECT_FALSE(ledger::read_note(one->ledger().checkpoint(tenant).note)->is_signed_by(before));
  EXPECT_EQ(wrong(*other, tenant), "");
}

TEST_F(PostgresLedgerTest, AGrownLedger_IsToldByOneHost) {
  const auto one = open();
  const auto other = open();
  const model::TenantId tenant = new_tenant(*one);
  commit(*one, sample_run(tenant, new_key(*one)));
  EXPECT_THAT(other->ledger().checkpoint_grown(), SizeIs(1));
  EXPECT_THAT(one->ledger().checkpoint_grown(), IsEmpty());
  commit(*other, sample_run(tenant, new_key(*other)));
  EXPECT_THAT(one->ledger().checkpoint_grown(), SizeIs(1));
  EXPECT_THAT(open()->ledger().checkpoint_grown(), IsEmpty()) << "nor by one that comes later";
}

TEST_F(PostgresLedgerTest, TurnedOnByOneHost_TheOthersMakeEntriesToo) {
  const auto one = open(Ledger::off);
  const model::TenantId tenant = new_tenant(*one);
  commit(*one, sample_run(tenant, new_key(*one), "before"));
  EXPECT_FALSE(one->ledger().is_on());
  const auto other = open(Ledger::on);
  commit(*one, sample_run(tenant, new_key(*one), "after"));
  EXPECT_EQ(kinds(entries(*one, tenant)), (std::map<std::string, int>{{"start", 1}, {"run", 1}}));
  open(Ledger::off);
  commit(*other, sample_run(tenant, new_key(*other), "off again"));
  EXPECT_EQ(entries(*one, tenant).size(), 2U);
}

// As after a restore, of a dump or to an earlier time, or when a standby took over.
TEST_F(PostgresLedgerTest, InAnotherPlace_LedgersGoOnUnderAnotherName) {
  const auto store = open();
  const model::TenantId tenant = new_tenant(*store);
  commit(*store, sample_run(tenant, new_key(*store)));
  const SignedCheckpoint before = store->ledger().checkpoint(tenant);
  change("UPDATE runwarden.ledger_state SET database = 'there'");
  const SignedCheckpoint after = store->ledger().checkpoint(tenant);
  EXPECT_NE(after.checkpoint.origin, before.checkpoint.origin);
  const auto all = entries(*store, tenant);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all.back().told->body, HasSubstr(R"("previous":{"origin":")" + before.checkpoint.origin + R"(","size":1,"root":")"));
  EXPECT_EQ(wrong(*store, tenant), "");
  change("UPDATE runwarden.ledger_state SET database = 'there'");
  const auto next = open();
  EXPECT_NE(next->ledger().checkpoint(tenant).checkpoint.origin, after.checkpoint.origin) << "also while nobody serves it";
  EXPECT_EQ(entries(*next, tenant).size(), 3U);
}

TEST_F(PostgresLedgerTest, BehindWhatWasTold_ALedgerGoesOnUnderAnotherName) {
  const auto store = open();
  const model::TenantId tenant = new_tenant(*store);
  commit(*store, sample_run(tenant, new_key(*store)));
  const SignedCheckpoint before = store->ledger().checkpoint(tenant);
  change("UPDATE runwarden.ledger_checkpoint SET size = 7");
  commit(*store, sample_run(tenant, new_key(*store)));
  EXPECT_NE(store->ledger().checkpoint(tenant).checkpoint.origin, before.checkpoint.origin);
  EXPECT_EQ(wrong(*store, tenant), "");
}

TEST_F(PostgresLedgerTest, ALostKey_IsMadeAnew_AndTold) {
  auto store = open();
  const model::TenantId tenant = new_tenant(*store);
  commit(*store, sample_run(tenant, new_key(*store)));
  const std::string before = store->ledger().public_key();
  change("DELETE FROM runwarden.secret WHERE name = 'ledger.key'");
  const SignedCheckpoint next = store->ledger().checkpoint(tenant);
  EXPECT_NE(next.public_key, before);
  EXPECT_EQ(entries(*store, tenant).back().told->body, ledger::key_body(next.public_key, before));
  EXPECT_EQ(wrong(*store, tenant), "");
}

TEST_F(PostgresLedgerTest, Check_FindsNothingWrong) {
  const auto store = open();
  fill_all(*store);
  EXPECT_THAT(faults(), IsEmpty());
  Retention retention;
  retention.runs_before_ms = retention.failures_before_ms = retention.changes_before_ms = retention.policies_before_ms = clock_.wall_ms() + 1;
  while (store->expire(retention, 7).more) {
  }
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(PostgresLedgerTest, Check_FindsWhatIsMissingOrWasChanged) {
  const auto store = open();
  fill_all(*store);
  change("CREATE TABLE kept AS SELECT * FROM runwarden.ledger_record; DELETE FROM runwarden.ledger_record");
  for (const char* const table : {"run", "former", "change", "policy", "triage", "review"}) expect_fault(table, "it has no ledger entry");
  expect_fault("ledger_entry", "the ledger entry's salt is missing");
  change("INSERT INTO runwarden.ledger_record SELECT * FROM kept");
  EXPECT_THAT(faults(), IsEmpty());

  change("CREATE TABLE changes AS SELECT * FROM runwarden.change WHERE kind <> 'policy'; DELETE FROM runwarden.change WHERE kind <> 'policy'");
  expect_fault("ledger_entry", "the ledger entry's record is missing");
  change("INSERT INTO runwarden.change SELECT * FROM changes");

  change("CREATE TABLE rows AS SELECT * FROM runwarden.ledger_entry; DELETE FROM runwarden.ledger_entry WHERE first > 0 AND first < 30");
  expect_fault("ledger_entry", "ledger entries are missing before it");
  expect_fault("ledger_record", "its entry is missing");
  change("DELETE FROM runwarden.ledger_entry; INSERT INTO runwarden.ledger_entry SELECT * FROM rows");

  change("CREATE TABLE heads AS SELECT * FROM runwarden.ledger; DELETE FROM runwarden.ledger");
  expect_fault("ledger_entry", "the ledger's size and its number of entries differ");
  change("INSERT INTO runwarden.ledger SELECT * FROM heads");
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(PostgresLedgerTest, Check_FindsASubtreeThatIsMissing) {
  const auto store = open();
  const model::TenantId tenant = new_tenant(*store);
  std::vector<Write> runs;
  for (int i = 0; i < 300; ++i) runs.emplace_back(sample_run(tenant, new_key(*store)));
  commit_together(*store, runs);
  EXPECT_THAT(faults(), IsEmpty());
  change("DELETE FROM runwarden.ledger_subtree");
  expect_fault("ledger_entry", "that it completes is missing");
}

// Whoever removes a tenant's ledger gives its last checkpoint away before; what is kept begins the next one.
TEST_F(PostgresLedgerTest, Removed_BeginsAgainWithWhatIsKept) {
  const auto store = open();
  fill_all(*store);
  const model::TenantId tenant = tenant_of(*store);
  const SignedCheckpoint before = store->ledger().checkpoint(tenant);
  Connection connection(settings_.connect);
  connection.script("BEGIN");
  EXPECT_EQ(sign_last_checkpoint(connection, tenant), before.note);
  std::vector<Connection::Statement> last = remove_ledger(connection, tenant, clock_.wall_ms());
  last.push_back({"COMMIT"});
  connection.run(last);
  const SignedCheckpoint after = store->ledger().checkpoint(tenant);
  EXPECT_NE(after.checkpoint.origin, before.checkpoint.origin);
  EXPECT_EQ(after.checkpoint.tree.size, before.checkpoint.tree.size);
  EXPECT_EQ(wrong(*store, tenant), "");
  EXPECT_THAT(faults(), IsEmpty());
}

}  // namespace
}  // namespace runwarden::store::postgres
