// What is done to a whole store in a PostgreSQL: exported, imported, purged, checked, raised.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "maintenance_store.h"
#include "store/postgres/engine.h"
#include "store/postgres/maintenance/postgres_maintenance.h"
#include "support/postgres.h"

namespace runwarden::store {
namespace {

using postgres::Connection;
using test::PostgresServer;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Records of every kind, from a store in a folder or from one on the database itself.
class PostgresMaintenanceTest : public MaintenanceTest {
 protected:
  void SetUp() override {
    if (!PostgresServer::installed()) GTEST_SKIP() << "no PostgreSQL server is installed: apt-get install postgresql-15";
    make_database();
  }
  void TearDown() override {
    for (const std::string& name : databases_) PostgresServer::shared().drop_database(name);
  }

  // A new one takes the place of the one before.
  void make_database() {
    databases_.push_back(PostgresServer::shared().make_database());
    settings_.dsn = PostgresServer::shared().dsn(databases_.back());
    ASSERT_TRUE(postgres::migrate(settings_, clock_, true).ok());
  }

  std::unique_ptr<Store> open_database() {
    postgres::PostgresSettings settings;
    settings.connect = settings_;
    settings.write_connections = 1;
    settings.time = postgres::DatabaseClock::Source::host;
    settings.store.ledger = ledger_;
    auto store = postgres::open_postgres(settings, clock_, Role::service);
    if (!store.ok()) throw std::runtime_error(store.error().detail);
    return std::move(*store);
  }
  void fill_database() {
    const auto store = open_database();
    fill_all(*store);
  }

  // The lines as they are, without the header and the end, which say when it was.
  static std::vector<std::string> records_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    if (lines.size() < 2) throw std::runtime_error("an export has a header and an end");
    return {lines.begin() + 1, lines.end() - 1};
  }
  static void expect_same_lines(const std::string& after_text, const std::string& before_text) {
    const auto before = records_of(before_text);
    const auto after = records_of(after_text);
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) ASSERT_EQ(after[i], before[i]) << "line " << i + 2;
    ASSERT_EQ(after.size(), before.size());
  }

  std::string exported_from_database(const std::string& tenant = "acme", std::int64_t since_ms = kBeginningMs) {
    std::string text;
    const auto done = postgres::export_tenant(settings_, maintenance(), {tenant, since_ms}, [&](std::string_view lines) {
      text += lines;
      return true;
    });
    if (!done.ok()) throw std::runtime_error(done.error().detail);
    EXPECT_EQ(done->unreadable, 0u);
    return text;
  }

  Imported import(const std::string& text) {
    const auto imported = postgres::import_lines(settings_, maintenance(), lines_of(text));
    if (!imported.ok()) throw std::runtime_error(imported.error().detail);
    for (const auto& conflict : imported->first_ones) told_.push_back(std::to_string(conflict.line) + ": " + conflict.detail);
    return *imported;
  }
  std::string refused(const std::string& text) {
    const auto imported = postgres::import_lines(settings_, maintenance(), lines_of(text));
    return imported.ok() ? "it was taken" : imported.error().detail;
  }

  std::int64_t count(const std::string& from) {
    Connection connection(settings_);
    return connection.query("SELECT count(*) FROM runwarden." + from).number(0, 0);
  }
  void sql(const std::string& script) { Connection(settings_).script(script); }

  // How many rows each table has that holds records.
  std::map<std::string, std::int64_t> rows_there() {
    std::map<std::string, std::int64_t> rows;
    for (const char* table : {"tenant",   "run",           "open_run",        "head",
                              "former",   "event",         "event_id",        "failure",
                              "change",   "policy",        "policy_head",     "idempotency",
                              "cluster",  "cluster_total", "triage",          "endpoint",
                              "delivery", "run_dimension", "dimension_value", "dimension_stretch",
                              "review",   "note"}) {
      rows[table] = count(table);
    }
    return rows;
  }

  std::vector<std::string> faults() {
    const auto verified = postgres::verify(settings_, maintenance());
    if (!verified.ok()) throw std::runtime_error(verified.error().detail);
    std::vector<std::string> told;
    for (const StoreFault& fault : verified->first_ones) told.push_back(fault.table + ": " + fault.detail);
    EXPECT_EQ(verified->faults, told.size());
    return told;
  }

  postgres::ConnectSettings settings_;
  std::vector<std::string> databases_;
  std::vector<std::string> told_;
};

TEST_F(PostgresMaintenanceTest, ExportOfAFolder_ImportedAndExportedAgain_HasTheSameLines) {
  fill();
  const std::string text = exported();
  const Imported done = import(text);
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_EQ(done.already_there, 0u);
  expect_same_lines(exported_from_database(), text);
  EXPECT_THAT(faults(), IsEmpty());
  const auto other = folder_.path() / "other";
  open(other).reset();
  EXPECT_EQ(import_lines(maintenance(other), lines_of(text))->stored, done.stored);
}

TEST_F(PostgresMaintenanceTest, GroupWhoseFirstFailuresAreFalseAlarms_IsAsOldAsBefore) {
  fill_with_false_alarms_first();
  const std::string text = exported();
  import(text);
  expect_same_lines(exported_from_database(), text);
  EXPECT_THAT(faults(), IsEmpty());
}

// More failures of a group than are counted at once.
TEST_F(PostgresMaintenanceTest, LargeGroups_AreCountedWhole) {
  {
    const auto store = open(path_);
    fill_with_runs(*store, "acme", 4200);
  }
  const std::string text = exported();
  import(text);
  EXPECT_EQ(count("cluster WHERE failures = 2100"), 2);
  EXPECT_EQ(count("cluster_total WHERE left_out = 0 AND clusters = 2"), 1);
  expect_same_lines(exported_from_database(), text);
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(PostgresMaintenanceTest, RecordsOfManyDays_ArePurgedAndCheckedDayByDay) {
  {
    const auto store = open_database();
    model::TenantId tenant = 0;
    for (int day = 0; day < 4; ++day) {
      tenant = fill_with_runs(*store, "acme", 1);
      for (int i = 0; i < 3; ++i) {
        RunWrite run = sample_run(tenant, new_key(*store));
        run.run.dimensions = {{"version", std::to_string(day % 2)}};
        run.failures.push_back(sample_failure(new_key(*store), "false_success", 95, "f" + std::to_string(i)));
        commit(*store, run);
      }
      clock_.advance_ms(86'400'000);
    }
  }
  EXPECT_THAT(faults(), IsEmpty());
  const std::string text = exported_from_database();
  const std::int64_t before_ms = clock_.wall_ms() - 2 * 86'400'000 - 3'600'000;
  ASSERT_TRUE(postgres::purge(settings_, maintenance(), {"acme", before_ms}).ok());
  EXPECT_EQ(count("run WHERE time_ms < " + std::to_string(before_ms)), 0);
  EXPECT_EQ(count("run"), 6);
  EXPECT_THAT(faults(), IsEmpty());
  make_database();
  import(text);
  EXPECT_EQ(count("run"), 13);
  expect_same_lines(exported_from_database(), text);
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(PostgresMaintenanceTest, ExportSinceATime_HasTheSameLinesAsThatOfAFolder) {
  fill();
  import(exported());
  for (const std::int64_t ago_ms : {50, 200, 300}) {
    const std::int64_t since_ms = clock_.wall_ms() - ago_ms;
    expect_same_lines(exported_from_database("acme", since_ms), exported("acme", since_ms));
  }
}

TEST_F(PostgresMaintenanceTest, ImportedTwice_CountsWhatIsThereAndChangesNothing) {
  fill();
  const std::string text = exported();
  import(text);
  const auto rows = rows_there();
  const Imported again = import(text);
  EXPECT_TRUE(again.stored.empty());
  EXPECT_EQ(again.already_there, records_of(text).size());
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_EQ(rows_there(), rows);
  expect_same_lines(exported_from_database(), text);
}

TEST_F(PostgresMaintenanceTest, ExportOfADatabase_ImportedIntoAFolder_HasTheSameLines) {
  fill();
  const std::string text = exported();
  import(text);
  path_ = folder_.path() / "target";
  open(path_).reset();
  ASSERT_TRUE(import_lines(maintenance(), lines_of(exported_from_database())).ok());
  expect_same_lines(exported(), text);
  expect_good(path_);
}

TEST_F(PostgresMaintenanceTest, RecordsOfADatabase_GoToAFolderAndBack) {
  fill_database();
  EXPECT_THAT(faults(), IsEmpty());
  const std::string text = exported_from_database();
  open(path_).reset();
  const auto imported = import_lines(maintenance(), lines_of(text));
  ASSERT_TRUE(imported.ok()) << imported.error().detail;
  EXPECT_EQ(imported->conflicts, 0u);
  expect_same_lines(exported(), text);
  expect_good(path_);
  make_database();
  import(exported());
  expect_same_lines(exported_from_database(), text);
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(PostgresMaintenanceTest, ImportThatFailsInTheMiddle_StoresNothing) {
  fill();
  const std::string text = exported();
  const auto before = rows_there();
  EXPECT_THAT(refused(text.substr(0, text.rfind('\n', text.size() - 2) + 1)), HasSubstr("was truncated"));
  EXPECT_EQ(rows_there(), before);
  MaintenanceContext stopped = maintenance();
  stopped.on_progress = [](const Progress&) { return false; };
  EXPECT_FALSE(postgres::import_lines(settings_, stopped, lines_of(text)).ok());
  EXPECT_EQ(rows_there(), before);
}

TEST_F(PostgresMaintenanceTest, AuthorWithANul_IsImportedAsItIs) {
  {
    const auto store = open(path_);
    model::KeyRecord key;
    key.id = "key";
    key.tenant_name = "acme";
    PolicyWrite write{store->put_key(key).tenant, {}, {}};
    write.policy.key = new_key(*store);
    write.policy.id = model::make_policy_revision_id(write.policy.key);
    write.policy.policy = "refunds";
    write.policy.author = std::string("a\0b", 3);
    write.policy.document = "{}";
    ASSERT_EQ(commit(*store, write).outcome, WriteResult::Outcome::stored);
  }
  import(exported());
  EXPECT_THAT(faults(), IsEmpty());
  expect_same_lines(exported_from_database(), exported());
}

TEST_F(PostgresMaintenanceTest, TextThatNoColumnHolds_IsRefusedWithItsLineAndRecord) {
  fill();
  std::string text = exported();
  const std::size_t at = text.find(R"("runId":"client-3")");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 18, R"("runId":"client\u0000")");
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  EXPECT_THAT(refused(text), HasSubstr("import: line " + std::to_string(line) + R"(: the run "client\u0000" contains a NUL)"));
}

TEST_F(PostgresMaintenanceTest, ConflictingRun_IsLeftOutWithAllOfIt) {
  fill();
  const std::string text = exported();
  import(text);
  // The same ids with other contents.
  make_database();
  {
    const auto store = open_database();
    const model::TenantId tenant = fill_with_runs(*store, "acme", 1);
    ASSERT_TRUE(store->find_run(tenant, "client-0"));
  }
  const Imported done = import(text);
  EXPECT_EQ(done.conflicts, told_.size());
  EXPECT_THAT(told_, Contains(HasSubstr("the run \"client-0\" already exists with a different receive time; the stored record was kept")));
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(PostgresMaintenanceTest, Import_TellsNoWebhook) {
  fill();
  std::uint64_t seq = 0;
  {
    const auto store = open_database();
    const model::TenantId tenant = fill_with_runs(*store, "acme", 0);
    model::Endpoint endpoint;
    endpoint.url = "https://receiver.example/other";
    endpoint.secret = std::string(model::kSecretBytes, '\x02');
    endpoint.events = model::subscribable_types();
    seq = store->webhooks().add_endpoint(tenant, endpoint)->key.seq;
  }
  import(exported());
  EXPECT_GE(count("cluster"), 3);
  EXPECT_EQ(count("endpoint"), 2);
  EXPECT_EQ(count("delivery WHERE endpoint = " + std::to_string(seq)), 0);
  EXPECT_THAT(faults(), IsEmpty());
  const auto store = open_database();
  const model::TenantId tenant = store->tenants().front().id;
  EXPECT_FALSE(store->webhooks().queue_rising(tenant, model::cluster_key("f1"))) << "its failures were imported";
  clock_.advance_ms(86'400'000);
  EXPECT_TRUE(store->webhooks().queue_rising(tenant, model::cluster_key("f1")));
}

TEST_F(PostgresMaintenanceTest, OpenRunsThatWereImported_GoOnAndEnd) {
  fill();
  import(exported());
  const auto store = open_database();
  const model::TenantId tenant = store->tenants().front().id;
  EXPECT_EQ(store->open_runs().count, 3u);
  end(*store, tenant, post(*store, tenant, "open", "e2", true));
  const auto run = store->find_run(tenant, "open");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->state, model::RunState::resolved);
  EXPECT_EQ(store->events(tenant, run->key).size(), 4u);
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(PostgresMaintenanceTest, StreamedRunsThatWereMoved_GoOnWithAllTheirEvents) {
  const std::map<std::string, std::size_t> events_after_one_more{{"ended", 4}, {"ended-and-open", 8}, {"open", 4}, {"client-0", 4}};
  const auto expect_all_events = [&](Store& store, const std::string& from) {
    const model::TenantId tenant = store.tenants().front().id;
    for (const auto& [id, count] : events_after_one_more) {
      const Buffered buffered = post(store, tenant, id, "late", true);
      const auto claim = store.claim_run(tenant, buffered.run, model::Resolution::final, 1000);
      ASSERT_TRUE(claim) << id << from;
      const ClaimedRun run = store.fetch(*claim);
      EXPECT_EQ(run.events.size(), count) << id << from;
      EXPECT_EQ(run.whole.has_value(), id == "client-0") << from;
      store.release(*claim);
      end(store, tenant, buffered);
    }
  };
  fill();
  fill_database();
  const std::map<std::string, std::string> exports{{" from a folder", exported()}, {" from a database", exported_from_database()}};
  for (const auto& [from, text] : exports) {
    make_database();
    import(text);
    expect_all_events(*open_database(), from + " to a database");
    EXPECT_THAT(faults(), IsEmpty()) << from;
    path_ = folder_.path() / ("target" + from);
    open(path_).reset();
    ASSERT_TRUE(import_lines(maintenance(), lines_of(text)).ok());
    expect_all_events(*open(path_), from + " to a folder");
    expect_good(path_);
  }
}

// As programs did that took packed events for those of another run.
TEST_F(PostgresMaintenanceTest, RunJudgedWithoutItsPackedEvents_IsFoundWithTheRemedy) {
  fill();
  import(exported());
  {
    const auto store = open_database();
    const model::TenantId tenant = store->tenants().front().id;
    const Buffered buffered = post(*store, tenant, "ended", "late", true);
    const auto claim = store->claim_run(tenant, buffered.run, model::Resolution::final, 1000);
    RunWrite write = sample_run(tenant, buffered.run, claim->run_id);
    write.run.revision = claim->revision;
    write.run.resolution = claim->resolution;
    write.run.events = claim->upto;
    write.claim = claim;
    write.run.document = R"({"runId":"ended","steps":[{"eventId":"late"}]})";
    ASSERT_EQ(commit(*store, write).outcome, WriteResult::Outcome::stored);
  }
  const auto verified = postgres::verify(settings_, maintenance());
  ASSERT_TRUE(verified.ok());
  ASSERT_EQ(verified->faults, 1u);
  const StoreFault& fault = verified->first_ones.front();
  EXPECT_EQ(fault.table, "event");
  EXPECT_EQ(fault.detail, "the run was judged again after it was imported, but without these events");
  EXPECT_THAT(fault.remedy, HasSubstr("send the run an event"));
}

TEST_F(PostgresMaintenanceTest, Purge_DeletesWhatItCountsAndWhatThatOfAFolderDoes) {
  fill();
  const std::string text = exported();
  import(text);
  import(exported("other"));
  const auto others = exported_from_database("other");
  for (const std::int64_t before_ms : {clock_.wall_ms() - 250, kEndMs}) {
    SCOPED_TRACE(before_ms);
    const PurgeQuery query{"acme", before_ms};
    const auto counted = postgres::count_purge(settings_, maintenance(), query);
    ASSERT_TRUE(counted.ok()) << counted.error().detail;
    const auto there = purge(maintenance(), query);
    ASSERT_TRUE(there.ok()) << there.error().detail;
    const auto done = postgres::purge(settings_, maintenance(), query);
    ASSERT_TRUE(done.ok()) << done.error().detail;
    const auto numbers = [](const Expired& gone) {
      return std::vector<std::uint64_t>{gone.runs,        gone.failures, gone.changes,    gone.policies, gone.idempotency_keys,
                                        gone.crash_marks, gone.triage,   gone.deliveries, gone.reviews,  gone.events};
    };
    EXPECT_EQ(numbers(done->gone), numbers(there->gone));
    EXPECT_EQ(numbers(done->gone), numbers(*counted));
    EXPECT_GT(done->gone.runs, 0u);
    EXPECT_THAT(faults(), IsEmpty());
    expect_same_lines(exported_from_database(), exported());
    EXPECT_EQ(records_of(exported_from_database("other")), records_of(others));
  }
  for (const char* table :
       {"open_run", "head", "former", "event", "event_id", "change", "policy", "policy_head", "triage", "delivery", "review"}) {
    EXPECT_EQ(count(std::string(table) + " WHERE tenant = 1"), 0) << table;
  }
  EXPECT_EQ(count("run WHERE tenant = 1"), 0);
  EXPECT_EQ(count("api_key"), 0);
}

TEST_F(PostgresMaintenanceTest, PurgeThatFailsHalfway_SaysWhatIsGone_AndGoesOnWhenRepeated) {
  fill();
  import(exported());
  sql("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END $$");
  sql("CREATE TRIGGER refuse BEFORE DELETE ON runwarden.policy_head FOR EACH ROW EXECUTE FUNCTION refuse()");
  const auto failed = postgres::purge(settings_, maintenance(), {"acme", kEndMs});
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().detail, HasSubstr("records were deleted before that"));
  EXPECT_EQ(count("run WHERE tenant = 1"), 0);
  sql("DROP TRIGGER refuse ON runwarden.policy_head");
  const auto done = postgres::purge(settings_, maintenance(), {"acme", kEndMs});
  ASSERT_TRUE(done.ok()) << done.error().detail;
  EXPECT_EQ(count("policy_head WHERE tenant = 1"), 0);
}

TEST_F(PostgresMaintenanceTest, PurgeOfRecordsThatCannotBeRead_LeavesNothingBehind) {
  fill();
  import(exported());
  sql("UPDATE runwarden.failure SET body = '\\x00'");
  sql("UPDATE runwarden.run SET body = '\\x00' WHERE state <> 0 AND max_score > 0");
  ASSERT_THAT(faults(), Not(IsEmpty()));
  const auto done = postgres::purge(settings_, maintenance(), {"acme"});
  ASSERT_TRUE(done.ok()) << done.error().detail;
  EXPECT_GT(done->leftovers, 0u);
  EXPECT_THAT(faults(), IsEmpty());
  const auto rows = rows_there();
  for (const char* table :
       {"run", "head", "failure", "cluster", "cluster_total", "triage", "run_dimension", "dimension_value", "dimension_stretch"}) {
    EXPECT_EQ(rows.at(table), 0) << table;
  }
}

TEST_F(PostgresMaintenanceTest, WhatIsImportedAndPurged_IsInTheLedger) {
  fill();
  ledger_ = StoreSettings::Ledger::on;
  open_database().reset();
  import(exported());
  EXPECT_THAT(faults(), IsEmpty());
  const auto records =
      count("run WHERE state <> 0") + count("former") +
      count(
          "change c WHERE NOT EXISTS (SELECT FROM runwarden.policy p WHERE (p.tenant, p.time_ms, p.seq) = (c.tenant, c.time_ms, c.seq))") +
      count("policy") + count("triage") + count("review");
  EXPECT_EQ(count("ledger_record"), records);
  const auto entries = [&] { return open_database()->ledger().sizes().at(0).size; };
  const auto before = entries();
  ASSERT_TRUE(postgres::purge(settings_, maintenance(), {"acme", clock_.wall_ms() - 250}).ok());
  EXPECT_GT(entries(), before) << "no receipt tells of the purge";
  EXPECT_LT(count("ledger_record"), records);
  EXPECT_THAT(faults(), IsEmpty());
  std::string note;
  ASSERT_TRUE(postgres::purge(settings_, maintenance(), {"acme", kEndMs, [&](const std::string& last) { note = last; }}).ok());
  EXPECT_THAT(note, HasSubstr("\n\n\u2014 "));
  EXPECT_EQ(count("ledger"), 0);
  EXPECT_EQ(count("ledger_entry"), 0);
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(PostgresMaintenanceTest, PurgeOfRecordsOlderThanTheLedger_IsInIt) {
  fill();
  import(exported());
  ledger_ = StoreSettings::Ledger::on;
  open_database().reset();
  const auto body = [&] {
    const auto store = open_database();
    const model::TenantId tenant = store->tenants().front().id;
    const std::uint64_t size = store->ledger().sizes().at(0).size;
    return store->ledger().entries(tenant, size - 1, size, PartsToo::no).at(0).told->body;
  };
  EXPECT_THAT(body(), HasSubstr(R"({"v":1,"counts":{)")) << "the start of the ledger";
  const auto purged = postgres::purge(settings_, maintenance(), {"acme"});
  ASSERT_TRUE(purged.ok());
  EXPECT_THAT(body(), HasSubstr(R"("before":null,"counts":{},"entries":[],"deleted":{)"));
  EXPECT_THAT(body(), HasSubstr("\"runs\":" + std::to_string(purged->gone.runs) + ","));
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(PostgresMaintenanceTest, UnknownTenantOrSchema_IsRefusedWithTheRemedy) {
  EXPECT_THAT(postgres::purge(settings_, maintenance(), {"nobody"}).error().detail,
              HasSubstr("no tenant \"nobody\"; `runwarden keys list`"));
  settings_.dsn = PostgresServer::shared().dsn(databases_.emplace_back(PostgresServer::shared().make_database()));
  EXPECT_THAT(postgres::verify(settings_, maintenance()).error().detail, HasSubstr("run `runwarden migrate`"));
  EXPECT_THAT(postgres::purge(settings_, maintenance(), {"acme"}).error().detail, HasSubstr("run `runwarden migrate`"));
}

struct Harm {
  const char* script;
  const char* fault;
};

TEST_F(PostgresMaintenanceTest, Verify_FindsEachKindOfHarm) {
  ledger_ = StoreSettings::Ledger::on;
  fill_database();
  ASSERT_THAT(faults(), IsEmpty());
  // Those of one list do not hide one another.
  const std::vector<std::vector<Harm>> harms = {
      {{"UPDATE runwarden.run SET body = set_byte(body, 4, get_byte(body, 4) # 1) WHERE state <> 0", "run: "},
       {"UPDATE runwarden.cluster_total SET clusters = clusters + 1", "cluster_total: it counts "},
       {"UPDATE runwarden.dimension_stretch SET numbered = numbered + 1", "dimension_stretch: its count of values does not match"},
       {"UPDATE runwarden.commit_last SET last = last + 1", "commit_log: the next row's number does not follow"},
       {"UPDATE runwarden.change SET kind = 'other' WHERE kind = 'code'", "change: its columns do not match the encoded record"},
       {"UPDATE runwarden.policy_head SET highest = 1", "policy_head: a revision is above its highest revision"},
       {"UPDATE runwarden.delivery SET due_ms = due_ms + 1", "delivery: its columns do not match the encoded record"},
       {"DELETE FROM runwarden.counter WHERE name = 'note'", "counter: it does not exist"},
       {"INSERT INTO runwarden.key_use VALUES ('key_nobody', 0)", "key_use: no key has that id"},
       {"UPDATE runwarden.ledger SET size = size + 1", "ledger: its columns do not match the encoded record"},
       {"UPDATE runwarden.lane SET open_runs = open_runs + 1", "lane: they count "}},
      {{"UPDATE runwarden.run SET run_id = run_id || 'x' WHERE run_id = 'client-3'", "run: its columns do not match the encoded record"},
       {"UPDATE runwarden.open_run SET total = total + 1 WHERE run_id = 'open'",
        "run: the open run's columns do not match the encoded record"},
       {"UPDATE runwarden.event SET count = count + 1 WHERE first = 0", "event: its columns do not match the encoded record"},
       {"UPDATE runwarden.event_id SET half = '\\x00' WHERE tenant > 0 AND seq IN (SELECT min(seq) FROM runwarden.event_id)",
        "event_id: an event's id is truncated"},
       {"UPDATE runwarden.failure SET score = score + 1 WHERE NOT shadow", "failure: its columns do not match the encoded record"},
       {"DELETE FROM runwarden.policy_head", "policy: its name is not in the index"},
       {"UPDATE runwarden.idempotency SET answer = NULL WHERE kind = 1", "idempotency: "},
       {"UPDATE runwarden.ledger_entry SET body = '\\x00'", "ledger_entry: "}},
      {{"DELETE FROM runwarden.head WHERE run_id = 'client-3'", "run: its runId is not in the index, or points to a different run"},
       {"DELETE FROM runwarden.open_run WHERE run_id = 'open'", "run: it is open, but not among the open runs"},
       {"UPDATE runwarden.event SET body = '\\x00' WHERE first = 0", "event: "},
       {"UPDATE runwarden.failure SET reviewed = 0 WHERE reviewed = 2", "failure: its columns do not match the encoded record"},
       {"UPDATE runwarden.review SET verdict = 3", "review: its columns do not match the encoded record"},
       {"DELETE FROM runwarden.dimension_value", "run_dimension: it points to a dimension's value that does not exist"},
       {"DELETE FROM runwarden.endpoint", "delivery: its webhook does not exist"},
       {"INSERT INTO runwarden.ledger_body VALUES (1, 100000, '\\x00')", "ledger_body: "}},
      {{"DELETE FROM runwarden.run WHERE run_id = 'open'", "open_run: it points to no open run"},
       {"DELETE FROM runwarden.run WHERE run_id = 'client-3'", "head: it points to a run that does not exist"},
       {"DELETE FROM runwarden.run WHERE run_id = 'ended-and-open'", "former: its run does not exist"},
       {"DELETE FROM runwarden.review", "failure: its verdict differs from its last review's"},
       {"DELETE FROM runwarden.cluster", "triage: its group does not exist"},
       {"DELETE FROM runwarden.run_dimension", "run_dimension: it is missing, but there are "},
       {"DELETE FROM runwarden.policy", "change: its policy revision does not exist"},
       {"DELETE FROM runwarden.ledger_entry WHERE first > 2", "ledger_entry: the ledger's size and its number of entries differ"}},
      {{"DELETE FROM runwarden.event WHERE first > 0", "run: it claims "},
       {"DELETE FROM runwarden.failure WHERE NOT shadow", "cluster: it counts "},
       {"DELETE FROM runwarden.triage", "cluster: nothing in its history explains its state"},
       {"DELETE FROM runwarden.dimension_stretch", "dimension_value: the head of its dimension's values is missing"},
       {"DELETE FROM runwarden.delivery WHERE state = 0", "endpoint: its count of pending deliveries does not match"},
       {"DELETE FROM runwarden.ledger_record WHERE kind = 1", "run: it has no ledger entry"}},
      {{"UPDATE runwarden.counter SET value = 0 WHERE name = 'start'",
        "run: its number belongs to a service start that the database has no record of"},
       {"DELETE FROM runwarden.ledger_entry WHERE first = 0", "ledger: its first entries are missing"},
       {"DELETE FROM runwarden.ledger_record WHERE kind = 4", "review: it has no ledger entry"}},
      {{"DELETE FROM runwarden.ledger_entry", "ledger_record: its entry is missing or belongs to a different record"}},
  };
  const std::string good = databases_.back();
  settings_.dsn = PostgresServer::shared().dsn("harmed");
  for (const auto& some : harms) {
    Connection admin(postgres::ConnectSettings{.dsn = PostgresServer::shared().dsn("postgres"), .password = {}, .words = {}});
    admin.script("DROP DATABASE IF EXISTS harmed WITH (FORCE)");
    admin.script("CREATE DATABASE harmed TEMPLATE " + good);
    for (const Harm& harm : some) sql(harm.script);
    const auto told = faults();
    for (const Harm& harm : some) EXPECT_THAT(told, Contains(::testing::StartsWith(harm.fault))) << harm.script;
  }
  databases_.emplace_back("harmed");
}

TEST_F(PostgresMaintenanceTest, Schema_IsShownAndRaisedOnce) {
  const auto again = postgres::migrate(settings_, clock_, true);
  ASSERT_TRUE(again.ok()) << again.error().detail;
  EXPECT_EQ(again->version, again->wanted);
  for (const auto& step : again->steps) {
    EXPECT_TRUE(step.done) << step.name;
    EXPECT_FALSE(step.just_now) << step.name;
    EXPECT_FALSE(step.changed) << step.name;
    EXPECT_EQ(step.applied_ms, clock_.wall_ms());
  }
  sql("UPDATE runwarden.migration SET sha256 = '' WHERE version = 1");
  EXPECT_TRUE(postgres::migrate(settings_, clock_, false)->steps.front().changed);
}

}  // namespace
}  // namespace runwarden::store
