// The commands for a whole store where that is a database: the real binary against a real server, without a service and beside one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/failing_run.h"
#include "support/postgres.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class PostgresCommands : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::installed()) GTEST_SKIP() << "no PostgreSQL server is installed: apt-get install postgresql-15";
    database_ = PostgresServer::shared().make_database();
    in_database_ = folder_.write("database.yaml", "store: {path: state, " + store() + "}\ndetectors: {include: [], enabled: []}\n");
    in_folder_ = folder_.write("folder.yaml", "store: {path: data}\ndetectors: {include: [], enabled: []}\n");
  }
  void TearDown() override {
    if (!database_.empty()) PostgresServer::shared().drop_database(database_);
  }

  std::string store() const {
    return "driver: postgres, dsn: \"" + PostgresServer::shared().dsn(database_) + "\", write_connections: 2, read_connections: 4";
  }

  static CommandResult run(const std::string& config, std::vector<std::string> arguments, const std::string& input = {}) {
    arguments.insert(arguments.begin(), runwarden_binary());
    arguments.insert(arguments.end(), {"--config", config});
    return run_command(arguments, input);
  }
  CommandResult on_database(const std::vector<std::string>& arguments, const std::string& input = {}) const {
    return run(in_database_, arguments, input);
  }
  CommandResult on_folder(const std::vector<std::string>& arguments, const std::string& input = {}) const {
    return run(in_folder_, arguments, input);
  }

  void sql(const std::string& script) const {
    store::postgres::ConnectSettings settings;
    settings.dsn = PostgresServer::shared().dsn(database_);
    store::postgres::Connection(settings).script(script);
  }

  // Without the header and the end, which say when it was.
  static std::vector<std::string> records_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    if (lines.size() < 2) return {"no export: " + text};
    return {lines.begin() + 1, lines.end() - 1};
  }

  TempFolder folder_;
  std::string database_;
  std::string in_database_;  // configuration
  std::string in_folder_;
};

TEST_F(PostgresCommands, Migrate_MakesTheSchemaOnceAndTellsOfIt) {
  const CommandResult before = on_database({"migrate", "--status", "--json"});
  EXPECT_EQ(before.exit_code, 1);
  EXPECT_EQ(json::parse(before.out)["version"], 0);
  EXPECT_THAT(on_database({"verify"}).err, HasSubstr("run `runwarden migrate`"));
  const CommandResult made = on_database({"migrate"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("done: records\n"));
  const CommandResult again = on_database({"migrate", "--json"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  const json status = json::parse(again.out);
  EXPECT_EQ(status["version"], status["wanted"]);
  EXPECT_EQ(status["done"], json::array());
  EXPECT_EQ(status["steps"].size(), status["wanted"].get<std::size_t>());
  for (const json& step : status["steps"]) EXPECT_TRUE(step["appliedAt"].is_string() && step["changed"] == false) << step;
  EXPECT_THAT(on_database({"migrate", "--status"}).out, AllOf(HasSubstr("groups"), HasSubstr("runwarden"), HasSubstr("schema ")));
  sql("UPDATE runwarden.migration SET sha256 = '' WHERE version = 2");
  const CommandResult changed = on_database({"migrate", "--status"});
  EXPECT_EQ(changed.exit_code, 1);
  EXPECT_THAT(changed.err, HasSubstr("step 2 (groups) was applied by another build"));
  const CommandResult checked = on_database({"check"});
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.err, HasSubstr("step 2 of the database's schema was applied by another build"));
  EXPECT_THAT(on_folder({"migrate"}).err, HasSubstr("store.driver is lmdb"));
}

// What serve refuses, check and migrate refuse as well.
class UnfitDatabases : public PostgresCommands {
 protected:
  void expect_refused(const std::string& dsn, const std::string& why, const std::vector<std::string>& commands) {
    const std::string config =
        folder_.write("unfit.yaml", "server: {address: \"127.0.0.1:0\"}\nstore:\n  driver: postgres\n  path: state\n  dsn: \"" + dsn +
                                        "\"\ndetectors: {include: [], enabled: []}\n");
    for (const std::string& command : commands) {
      const CommandResult result = run(config, {command});
      EXPECT_EQ(result.exit_code, 1) << command << result.out;
      EXPECT_THAT(result.err, HasSubstr(why)) << command;
      if (command == "check") {
        EXPECT_THAT(result.err, HasSubstr("config: store.dsn (" + config + ":5:8): "));
      }
    }
  }
  std::string dsn() const { return PostgresServer::shared().dsn(database_); }
};

TEST_F(UnfitDatabases, OtherEncoding_IsRefusedWithTheRemedy) {
  for (const std::string encoding : {"LATIN1", "SQL_ASCII"}) {
    PostgresServer::shared().drop_database(database_);
    PostgresServer::shared().admin().script("CREATE DATABASE " + database_ + " ENCODING '" + encoding +
                                            "' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
    expect_refused(
        dsn(),
        "the database has the encoding " + encoding + "; name one in store.dsn that was created with ENCODING 'UTF8' TEMPLATE template0",
        {"check", "migrate", "serve"});
  }
}

TEST_F(UnfitDatabases, ReadOnlyDatabase_IsRefusedAsSuch) {
  ASSERT_EQ(on_database({"migrate"}).exit_code, 0);
  PostgresServer::shared().admin().script("ALTER DATABASE " + database_ + " SET default_transaction_read_only = on");
  expect_refused(dsn(), "the database is a standby, or read-only; name its primary in store.dsn", {"check", "serve"});
}

TEST_F(UnfitDatabases, RoleWithoutRights_IsRefusedWithWhatItLacks) {
  PostgresServer::shared().admin().script("DROP ROLE IF EXISTS rw_reader; CREATE ROLE rw_reader LOGIN");
  std::string as_reader = dsn();
  as_reader.replace(as_reader.find("user="), as_reader.find(' ', as_reader.find("user=")) - as_reader.find("user="), "user=rw_reader");
  expect_refused(as_reader, "the role \"rw_reader\" lacks CREATE on database " + database_, {"check", "serve"});
  ASSERT_EQ(on_database({"migrate"}).exit_code, 0);
  expect_refused(as_reader, "permission denied", {"check", "serve"});
  sql("GRANT USAGE ON SCHEMA runwarden TO rw_reader; GRANT SELECT ON ALL TABLES IN SCHEMA runwarden TO rw_reader");
  expect_refused(as_reader, "the role \"rw_reader\" lacks INSERT on table runwarden.", {"check", "serve"});
  sql("GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA runwarden TO rw_reader");
  expect_refused(as_reader, "the role \"rw_reader\" lacks ownership on table runwarden.", {"check", "serve"});
}

TEST_F(UnfitDatabases, DatabaseThatIsAway_IsAFaultOfCheck) {
  expect_refused("host=" + folder_.path().string() + " user=runwarden dbname=none", "cannot use the database", {"check"});
}

TEST_F(UnfitDatabases, FaultsOfTheDsnAndThePasswordFile_NameTheirPlace) {
  expect_refused("host=db user=rw password=secret", "password_file", {"check"});
  expect_refused("host=db user=rw sslpassword=secret", "it contains a secret, sslpassword=", {"check", "serve"});
  folder_.write("db.password", "secret\n");
  std::filesystem::permissions(folder_.path() / "db.password", std::filesystem::perms::owner_read | std::filesystem::perms::others_read);
  const std::string config =
      folder_.write("file.yaml", "store:\n  driver: postgres\n  path: state\n  dsn: \"host=db user=rw\"\n  password_file: db.password\n");
  for (const char* command : {"check", "migrate"}) {
    EXPECT_THAT(run(config, {command}).err, HasSubstr("config: store.password_file (" + config + ":5:18): ")) << command;
  }
}

TEST_F(PostgresCommands, Import_MakesTheSchemaOfAnEmptyDatabase) {
  ASSERT_EQ(on_folder({"keys", "create", "--tenant", "acme"}).exit_code, 0);
  const CommandResult imported = on_database({"import"}, on_folder({"export", "--tenant", "acme"}).out);
  EXPECT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(on_database({"verify"}).exit_code, 0);
}

TEST_F(PostgresCommands, AcceptClock_ConfirmsTheDatabasesClock) {
  ServiceProcess::Options options;
  options.store = store();
  const ServiceProcess host(options);
  sql("INSERT INTO runwarden.counter VALUES ('clock', 4102444800000) ON CONFLICT (name) DO UPDATE SET value = excluded.value");
  const CommandResult accepted = host.cli({"store", "accept-clock"});
  EXPECT_EQ(accepted.exit_code, 0) << accepted.err;
  EXPECT_THAT(accepted.out, HasSubstr("is accepted as the time; the store was last in use at 2100-01-01T00:00:00.000Z"));
  EXPECT_THAT(json::parse(host.cli({"store", "accept-clock", "--json"}).out)["lastUse"].get<std::string>(), Not(HasSubstr("2100")));
}

TEST_F(PostgresCommands, Keys_GoFromAFolderToADatabaseAndBack) {
  ASSERT_EQ(on_folder({"keys", "create", "--tenant", "acme", "--scopes", "ingest,read", "--name", "ci"}).exit_code, 0);
  ASSERT_EQ(on_folder({"keys", "create", "--tenant", "other", "--expires", "90d"}).exit_code, 0);
  const json made = json::parse(on_folder({"keys", "list", "--json"}).out);
  ASSERT_EQ(on_folder({"keys", "revoke", made[1]["id"]}).exit_code, 0);
  const CommandResult exported = on_folder({"keys", "export"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.err, HasSubstr("exported 2 keys"));
  const CommandResult imported = on_database({"keys", "import"}, exported.out);
  EXPECT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(imported.out, "imported 2 keys\n");
  EXPECT_EQ(on_database({"keys", "list", "--json"}).out, on_folder({"keys", "list", "--json"}).out);
  EXPECT_EQ(records_of(on_database({"keys", "export"}).out), records_of(exported.out));
  EXPECT_EQ(records_of(on_database({"keys", "export", "--tenant", "acme"}).out).size(), 1u);
  const CommandResult again = on_database({"keys", "import"}, exported.out);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.out, "imported 0 keys\n2 keys already existed\n");
  EXPECT_EQ(on_database({"verify"}).exit_code, 0);

  const std::string back = folder_.write("back.yaml", "store: {path: back}\ndetectors: {include: [], enabled: []}\n");
  EXPECT_EQ(run(back, {"keys", "import"}, on_database({"keys", "export"}).out).out, "imported 2 keys\n");
  EXPECT_EQ(run(back, {"keys", "list", "--json"}).out, on_folder({"keys", "list", "--json"}).out);
}

TEST_F(PostgresCommands, KeysThatWereChangedOrCutOff_AreNotImported) {
  ASSERT_EQ(on_folder({"keys", "create", "--tenant", "acme"}).exit_code, 0);
  const std::string exported = on_folder({"keys", "export"}).out;
  const auto refused = [&](const std::string& text) {
    const CommandResult result = on_database({"keys", "import"}, text);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("nothing was imported"));
    return result.err;
  };
  EXPECT_THAT(refused(exported.substr(0, exported.rfind('\n', exported.size() - 2) + 1)), HasSubstr("it was truncated; export it again"));
  std::string changed = exported;
  changed.replace(changed.find("acme"), 4, "evil");
  EXPECT_THAT(refused(changed), HasSubstr("line 3: the export's SHA-256 does not match"));
  EXPECT_THAT(refused("{}\n"), HasSubstr("line 1: "));
  EXPECT_THAT(refused("no JSON\n"), HasSubstr("line 1: not the JSON of a key export"));
  EXPECT_THAT(refused(""), HasSubstr("nothing to import"));
  EXPECT_THAT(refused(on_folder({"export", "--tenant", "acme"}).out), HasSubstr("expected the header line of a key export"));
  EXPECT_EQ(json::parse(on_database({"keys", "list", "--json"}).out), json::array());
}

TEST_F(PostgresCommands, KeyInThePlaceOfAnother_IsToldAndStays) {
  ASSERT_EQ(on_folder({"keys", "create", "--tenant", "acme"}).exit_code, 0);
  const std::string exported = on_folder({"keys", "export"}).out;
  ASSERT_EQ(on_database({"keys", "import"}, exported).exit_code, 0);
  sql("UPDATE runwarden.api_key SET digest = sha256('another')");
  const CommandResult result = on_database({"keys", "import"}, exported);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("a different key has this id; it was kept"));
}

TEST_F(PostgresCommands, RecordsAndKeys_MoveFromAFolderToADatabaseAndServe) {
  ServiceProcess on_lmdb;
  const std::string key = on_lmdb.make_key("acme", "ingest,read,manage");
  for (const char* id : {"one", "two", "three"}) ASSERT_EQ(on_lmdb.post("/v1/ingest/runs", key, failing_run(id)).status, 201);
  const std::string cluster = json::parse(on_lmdb.get("/v1/clusters", key).body)["items"][0]["clusterId"];
  ASSERT_EQ(on_lmdb.post("/v1/clusters/" + cluster + "/triage", key, R"({"action":"resolve","note":"fixed"})").status, 200);
  const std::vector<std::string> paths = {"/v1/runs", "/v1/runs/one", "/v1/failures", "/v1/clusters", "/v1/clusters/" + cluster};
  // But for what goes by the time of the question.
  const auto answers_of = [&](const ServiceProcess& service) {
    std::vector<json> answers;
    for (const std::string& path : paths) {
      answers.push_back(json::parse(service.get(path, key).body));
      answers.back().erase("window");
    }
    return answers;
  };
  const auto answers = answers_of(on_lmdb);
  on_lmdb.stop();

  ASSERT_EQ(on_database({"migrate"}).exit_code, 0);
  ASSERT_EQ(on_database({"keys", "import"}, on_lmdb.cli({"keys", "export"}).out).exit_code, 0);
  const CommandResult exported = on_lmdb.cli({"export", "--tenant", "acme"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  const CommandResult imported = on_database({"import", "--json"}, exported.out);
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(json::parse(imported.out)["conflicts"], 0);
  EXPECT_EQ(records_of(on_database({"export", "--tenant", "acme"}).out), records_of(exported.out));
  const CommandResult verified = on_database({"verify", "--json"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out;
  EXPECT_EQ(json::parse(verified.out)["entries"]["run"], 3);

  ServiceProcess::Options options;
  options.store = store();
  ServiceProcess host(options);
  EXPECT_EQ(answers_of(host), answers);
  ASSERT_EQ(host.post("/v1/ingest/runs", key, failing_run("four")).status, 201);
  const CommandResult beside = host.cli({"import"}, exported.out);  // beside the service
  EXPECT_EQ(beside.exit_code, 0) << beside.err;
  EXPECT_THAT(beside.out, HasSubstr("records already existed"));
  EXPECT_EQ(host.cli({"verify"}).exit_code, 0);
}

TEST_F(PostgresCommands, RunsFromEventsThatWereMoved_AreJudgedByAllTheirEvents) {
  const std::string streamed = R"({"events":[{"type":"run_started","userRequestText":"Refund order 8842"},)"
                               R"({"type":"tool_call","name":"issue_refund","status":"failed","error":"502 Bad Gateway","eventId":"e1"},)"
                               R"({"type":"run_finished","success":true,"outcomeSummary":"Your refund has been processed."}],"runId":")";
  const std::string later =
      R"({"events":[{"type":"tool_call","name":"issue_refund","status":"failed","error":"502","eventId":"e2"}],"runId":")";
  ServiceProcess on_lmdb;
  const std::string key = on_lmdb.make_key("acme", "ingest,read");
  for (const char* id : {"ended", "reopened"}) ASSERT_EQ(on_lmdb.post("/v1/ingest/events", key, streamed + id + "\"}").status, 201) << id;
  ASSERT_EQ(on_lmdb.post("/v1/ingest/events", key, later + "reopened\"}").status, 202);
  on_lmdb.stop();
  ASSERT_EQ(on_database({"migrate"}).exit_code, 0);
  ASSERT_EQ(on_database({"keys", "import"}, on_lmdb.cli({"keys", "export"}).out).exit_code, 0);
  ASSERT_EQ(on_database({"import"}, on_lmdb.cli({"export", "--tenant", "acme"}).out).exit_code, 0);

  ServiceProcess::Options options;
  options.store = store();
  ServiceProcess host(options);
  ASSERT_EQ(host.post("/v1/ingest/events", key, later + "ended\"}").status, 202);
  for (const std::string id : {"ended", "reopened"}) {
    const HttpAnswer ended = host.post("/v1/ingest/events", key, R"({"events":[],"final":true,"runId":")" + id + "\"}");
    ASSERT_EQ(ended.status, 201) << ended.body;
    const json run = json::parse(host.get("/v1/runs/" + id, key).body);
    EXPECT_EQ(run["userRequestText"], "Refund order 8842") << id;
    EXPECT_EQ(run["outcomeSummary"], "Your refund has been processed.") << id;
    ASSERT_EQ(run["steps"].size(), 2u) << id;
    EXPECT_EQ(run["steps"][0]["eventId"], "e1") << id;
    EXPECT_EQ(run["failures"].size(), 1u) << id;
  }
  EXPECT_EQ(host.cli({"verify"}).exit_code, 0);
}

TEST_F(PostgresCommands, Purge_CountsDeletesAndSaysWhatRemains) {
  ServiceProcess::Options options;
  options.store = store();
  options.yaml = "buffer: {idle_timeout: 1h}\n";
  ServiceProcess host(options);
  const std::string key = host.make_key();
  for (const char* id : {"one", "two"}) ASSERT_EQ(host.post("/v1/ingest/runs", key, failing_run(id)).status, 201);
  ASSERT_EQ(host.post("/v1/ingest/events", key, R"({"runId":"open","events":[{"type":"tool_call","name":"a"}]})").status, 202);
  const CommandResult counted = host.cli({"purge", "--tenant", "acme", "--dry-run", "--json"});
  ASSERT_EQ(counted.exit_code, 0) << counted.err;
  EXPECT_EQ(json::parse(counted.out)["wouldDelete"]["runs"], 3);
  EXPECT_EQ(host.get("/v1/runs/one", key).status, 200);
  EXPECT_EQ(host.cli({"purge", "--tenant", "acme"}).exit_code, 2) << "there is nobody to ask";
  const CommandResult purged = host.cli({"purge", "--tenant", "acme", "--yes", "--json"});
  ASSERT_EQ(purged.exit_code, 0) << purged.err;
  const json receipt = json::parse(purged.out);
  for (const auto& [name, count] : json::parse(counted.out)["wouldDelete"].items()) EXPECT_EQ(receipt["deleted"][name], count) << name;
  EXPECT_THAT(receipt["remains"].get<std::string>(), HasSubstr("VACUUM"));
  EXPECT_EQ(host.get("/v1/runs/one", key).status, 404);
  EXPECT_EQ(json::parse(host.get("/v1/clusters", key).body)["items"], json::array());
  EXPECT_EQ(host.cli({"verify"}).exit_code, 0);
  EXPECT_THAT(host.cli({"purge", "--tenant", "nobody", "--yes"}).err, HasSubstr("no tenant \"nobody\""));
}

TEST_F(PostgresCommands, Verify_NamesWhatIsWrongAndTheRemedy) {
  ServiceProcess::Options options;
  options.store = store();
  ServiceProcess host(options);
  const std::string key = host.make_key();
  ASSERT_EQ(host.post("/v1/ingest/runs", key, failing_run("one")).status, 201);
  sql("UPDATE runwarden.run SET body = set_byte(body, 4, get_byte(body, 4) # 1)");
  const CommandResult verified = host.cli({"verify"});
  EXPECT_EQ(verified.exit_code, 1);
  EXPECT_THAT(verified.out, AllOf(HasSubstr("fault: run, key 0x"), HasSubstr("restore a backup, or purge")));
  const CommandResult exported = host.cli({"export", "--tenant", "acme"});
  EXPECT_EQ(exported.exit_code, 1);
  EXPECT_THAT(exported.err, HasSubstr("records skipped because they could not be read: 1"));
}

TEST_F(PostgresCommands, BackupAndCompact_SayWhatToUseInstead) {
  ASSERT_EQ(on_database({"migrate"}).exit_code, 0);
  const CommandResult backup = on_database({"backup", (folder_.path() / "copy").string()});
  EXPECT_EQ(backup.exit_code, 1);
  EXPECT_THAT(backup.err, AllOf(HasSubstr("pg_basebackup"), HasSubstr("pg_dump -n runwarden")));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "copy"));
  const CommandResult compact = on_database({"compact"});
  EXPECT_EQ(compact.exit_code, 1);
  EXPECT_THAT(compact.err, AllOf(HasSubstr("VACUUM"), HasSubstr("pg_repack")));
  const CommandResult purge = on_database({"purge", "--tenant", "acme", "--yes", "--compact"});
  EXPECT_EQ(purge.exit_code, 1);
  EXPECT_THAT(purge.err, HasSubstr("VACUUM"));
}

TEST_F(PostgresCommands, ADatabaseThatIsAway_IsToldWithItsName) {
  const std::string away = folder_.write("away.yaml", "store: {path: state, driver: postgres, dsn: \"host=" + folder_.path().string() +
                                                          " user=runwarden dbname=none\"}\ndetectors: {include: [], enabled: []}\n");
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{{"verify"},
                                                                                       {"export", "--tenant", "acme"},
                                                                                       {"purge", "--tenant", "acme", "--yes"},
                                                                                       {"migrate"},
                                                                                       {"keys", "list"},
                                                                                       {"keys", "export"}}) {
    const CommandResult result = run(away, command);
    EXPECT_EQ(result.exit_code, 1) << command[0];
    EXPECT_THAT(result.err, HasSubstr("database")) << command[0];
    EXPECT_THAT(result.err, Not(HasSubstr("was lost"))) << command[0];
  }
}

}  // namespace
}  // namespace runwarden::test
