// Several services on one PostgreSQL, over real HTTP with the real plugins: what one acknowledged, all show, once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <future>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "integration/hosts.h"
#include "store/postgres/schema.h"
#include "support/preloaded.h"
#include "support/webhook_receiver.h"

namespace runwarden::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

// The lines of an export but the first and the last, which bear its time.
std::string records_of(const std::string& exported) {
  const std::size_t begin = exported.find('\n') + 1;
  return exported.substr(begin, exported.rfind("{\"record\":\"end\"") - begin);
}

TEST_F(Hosts, RunOfOneHost_IsShownByTheOtherAtOnce) {
  ServiceProcess& a = add_host();
  ServiceProcess& b = add_host();
  const std::string key = a.make_key();
  for (int i = 0; i < 20; ++i) {
    const std::string id = "run-" + std::to_string(i);
    ASSERT_EQ(a.post("/v1/ingest/runs", key, failing_run(id)).status, 201);
    const HttpAnswer seen = b.get("/v1/runs/" + id, key);
    ASSERT_EQ(seen.status, 200) << seen.body;
    EXPECT_EQ(seen.body, a.get("/v1/runs/" + id, key).body);
    EXPECT_THAT(b.get("/v1/failures?limit=1", key).body, HasSubstr(id));
  }
  EXPECT_EQ(b.get("/v1/failures?limit=1000", key).body, a.get("/v1/failures?limit=1000", key).body);
}

TEST_F(Hosts, KeysMadeOnOne_WorkOnTheOtherAtOnceAndEndWithTheirSessionsWithinASecond) {
  ServiceProcess& a = add_host();
  ServiceProcess& b = add_host();
  const std::string key = a.make_key("acme", "ingest,read");
  const HttpAnswer login = a.request(post_request("/v1/session", json{{"key", key}}.dump()));
  ASSERT_EQ(login.status, 200) << login.body;
  const std::string cookie = login.header("set-cookie");
  const auto by_session = [&] { return b.request(get_request("/v1/runs", "Cookie: " + cookie.substr(0, cookie.find(';')) + "\r\n")).status; };
  EXPECT_EQ(by_session(), 200) << "of a key that this host has not heard of";
  EXPECT_EQ(b.get("/v1/runs", key).status, 200);
  const json keys = json::parse(a.cli({"keys", "list", "--json"}).out);
  ASSERT_EQ(a.cli({"keys", "revoke", keys[0]["id"].get<std::string>()}).exit_code, 0);
  const auto until = SteadyClock::now() + std::chrono::seconds(1);
  int status = 0;
  while ((status = b.get("/v1/runs", key).status) == 200 && SteadyClock::now() < until) ::poll(nullptr, 0, 10);
  EXPECT_EQ(status, 401);
  EXPECT_EQ(by_session(), 401) << "the page of a revoked key ends with it";
}

TEST_F(Hosts, PolicyRevisionsOfOneTime_AreInForceInTheOrderInWhichTheyWereAccepted) {
  ServiceProcess& a = add_host();
  ServiceProcess& b = add_host();
  const std::string key = a.make_key();
  int content = 0;
  for (const ServiceProcess* const host : {&a, &b, &a, &b, &b, &a}) {
    const std::string policy =
        R"({"policy":"refunds","author":"a\u0000b","at":"2026-01-01T00:00:00Z","content":)" + std::to_string(++content) + "}";
    const HttpAnswer answer = host->post("/v1/ingest/policies", key, policy);
    ASSERT_EQ(answer.status, 201) << answer.body;
    const json accepted = json::parse(answer.body);
    EXPECT_EQ(accepted["author"], std::string("a\0b", 3));
    for (const ServiceProcess* const at : {&a, &b}) {
      const json in_force = json::parse(at->get("/v1/policies/refunds?at=2026-01-02T00:00:00Z", key).body);
      EXPECT_EQ(in_force["policyRevisionId"], accepted["policyRevisionId"]);
      EXPECT_EQ(json::parse(at->get("/v1/policies/refunds", key).body)["items"][0]["revision"], accepted["revision"]);
    }
  }
}

TEST_F(Hosts, EventsSentToHostsInTurn_AreOneRunJudgedOnce) {
  add_host();
  add_host();
  const std::string key = hosts_[0]->make_key();
  const std::vector<json> events = {{{"type", "run_started"}, {"userRequestText", "Refund order 8842"}},
                                    {{"type", "tool_call"}, {"name", "issue_refund"}, {"status", "failed"}, {"error", "502 Bad Gateway"}},
                                    {{"type", "model_output"}, {"text", "Your refund has been processed."}},
                                    {{"type", "run_finished"}, {"success", true}}};
  for (std::size_t i = 0; i < events.size(); ++i) {
    const HttpAnswer answer = hosts_[i % 2]->post("/v1/ingest/events", key, json{{"runId", "streamed"}, {"events", {events[i]}}}.dump());
    ASSERT_THAT(answer.status, testing::AnyOf(200, 201, 202)) << answer.body;
  }
  const json run = json::parse(hosts_[0]->get("/v1/runs/streamed", key).body);
  EXPECT_EQ(run["state"], "resolved") << run;
  EXPECT_EQ(run["steps"].size(), 2u) << run;
  const json failures = json::parse(hosts_[1]->get("/v1/failures", key).body);
  ASSERT_EQ(failures["items"].size(), 1u) << failures;
  EXPECT_EQ(failures["items"][0]["detectorKey"], "false_success");
}

TEST_F(Hosts, OneRunIdRacedOnTwoHosts_IsOneRecordWithOneAnswer) {
  add_host();
  add_host();
  const std::string key = hosts_[0]->make_key();
  for (int round = 0; round < 10; ++round) {
    const std::string id = "raced-" + std::to_string(round);
    std::vector<HttpAnswer> answers(4);
    std::vector<std::thread> clients;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      clients.emplace_back([&, i] {
        answers[i] = hosts_[i % 2]->post("/v1/ingest/runs", key, failing_run(id), "Idempotency-Key: \"k-" + id + "\"\r\n");
      });
    }
    for (std::thread& client : clients) client.join();
    std::set<std::string> failure_ids;
    int created = 0;
    for (const HttpAnswer& answer : answers) {
      ASSERT_THAT(answer.status, testing::AnyOf(200, 201)) << answer.body;
      created += answer.status == 201 && answer.header("idempotent-replayed").empty() ? 1 : 0;
      failure_ids.insert(json::parse(answer.body)["failures"][0]["failureId"].get<std::string>());
    }
    EXPECT_EQ(failure_ids.size(), 1u);
    EXPECT_EQ(listed(*hosts_[0], key, "failures", "runId")[id], 1);
  }
}

// What runs have to know is asked of the database; a service whose threads waited for that would answer nobody else.
TEST_F(Hosts, RunsThatWaitForTheDatabase_KeepNoThreadFromOthers) {
  constexpr std::size_t kRuns = 64;  // more than there are threads
  ServiceProcess& host = add_host();
  const std::string key = host.make_key();
  auto connection = server().admin(database_);
  auto locking = server().admin(database_);
  locking.script("BEGIN; LOCK TABLE runwarden.policy IN ACCESS EXCLUSIVE MODE");
  std::vector<std::future<HttpAnswer>> answers;
  for (std::size_t i = 0; i < kRuns; ++i) {
    answers.push_back(std::async(std::launch::async, [&, i] { return host.post("/v1/ingest/runs", key, failing_run("waits-" + std::to_string(i))); }));
  }
  EXPECT_TRUE(comes_true([&] { return metric(host, "runwarden_requests_in_flight") >= kRuns; }));
  EXPECT_EQ(host.get("/v1/runs", key).status, 200);
  EXPECT_TRUE(connection.query("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)").boolean(0, 0)) << "they waited no longer";
  locking.script("COMMIT");
  for (auto& answer : answers) EXPECT_EQ(answer.get().status, 201);
}

// A model is asked by whichever host claims the question; one that is killed leaves its questions to the other.
TEST_F(Hosts, HostsShareTheQuestionsToAModel_AndOneThatIsKilledLosesNone) {
  constexpr std::size_t kFewest = 40, kMost = 1000;
  WebhookReceiver endpoint([](const ReceivedMessage&, std::size_t) {
    const json content = {{"verdict", "present"}, {"reason", "as I read it"}, {"evidence", json::array()}};
    const json body = {{"choices", {{{"message", {{"role", "assistant"}, {"content", content.dump()}}}}}}};
    return WebhookReceiver::Answer{200, "Content-Type: application/json\r\n", body.dump()};
  });
  const auto with_model = [&] {
    ServiceProcess::Options with = options();
    with.yaml += "second_opinion: {enabled: true, ask: alarms, model: judge-1, timeout: 1s, max_in_flight: 2, url: \"" + endpoint.url("/v1/chat/completions") + "\"}\n";
    return with;
  };
  ServiceProcess& one = add_host(with_model());
  ServiceProcess& other = add_host(with_model());
  const std::string key = one.make_key();
  const auto asked = [&] { return metric(other, "runwarden_second_opinion_asked_total") > 0; };
  // A host that is quick enough leaves the other nothing to ask: runs come until it has.
  std::size_t runs = 0;
  for (; runs < kMost && (runs < kFewest || !asked()); ++runs)
    ASSERT_EQ(one.post("/v1/ingest/runs", key, failing_run("asked-" + std::to_string(runs))).status, 201);
  ASSERT_TRUE(comes_true(asked)) << "the other host asks, too";
  one.kill_hard();
  const auto reviewed = [&] {
    const json page = json::parse(other.get("/v1/failures?review=right&limit=1000", key).body);
    return page["items"].size();
  };
  EXPECT_TRUE(comes_true([&] { return reviewed() == runs; }, std::chrono::seconds(40)));
  EXPECT_TRUE(comes_true([&] { return metric(other, "runwarden_second_opinion_waiting") == 0; }));
  EXPECT_LE(endpoint.wait_for("/v1/chat/completions", runs).size(), runs + 2)
      << "only what was on its way when the host was killed is asked again";
}

TEST_F(Hosts, HostsKilledInTurnUnderLoad_LoseNothingAndDoubleNothing) {
  add_host();
  add_host();
  const std::string key = hosts_[0]->make_key();
  Load load;
  begin(load, key);
  std::size_t enough = 50;
  for (int round = 0; round < 4; ++round, enough += 50) {
    ASSERT_TRUE(load.wait_for(enough)) << load.size() << " of " << enough;
    ServiceProcess& host = *hosts_[static_cast<std::size_t>(round) % 2];
    host.kill_hard();
    ASSERT_TRUE(load.wait_for(enough + 25)) << "one host is enough";
    host.start();
  }
  load.end();
  expect_each_once(*hosts_[1], key, load);
}

TEST_F(Hosts, ConnectionsCutUnderLoad_LoseNothingAndDoubleNothing) {
  add_host();
  const std::string key = hosts_[0]->make_key();
  Load load;
  begin(load, key);
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(load.wait_for(load.size() + 10));
    server().cut_connections(database_);
  }
  load.end();
  expect_each_once(*hosts_[0], key, load);
}

TEST_F(Hosts, DatabaseThatStopsAtOnce_IsToldAndTakenUpAgainWithinFiveSeconds) {
  ServiceProcess& host = add_host();
  const std::string key = host.make_key();
  Load load;
  begin(load, key);
  ASSERT_TRUE(load.wait_for(50));
  server().stop("immediate");
  const auto stopped = SteadyClock::now();
  HttpAnswer refused = host.post("/v1/ingest/runs", key, failing_run("while-away"));
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_FALSE(refused.header("retry-after").empty());
  EXPECT_LT(SteadyClock::now() - stopped, std::chrono::seconds(3));
  EXPECT_EQ(host.get("/v1/runs", key).status, 503);
  EXPECT_EQ(host.request(get_request("/healthz")).status, 200);
  HttpAnswer ready;
  for (int i = 0; i < 500 && (ready = host.request(get_request("/readyz"))).status != 503; ++i) ::poll(nullptr, 0, 10);
  EXPECT_EQ(ready.status, 503);
  EXPECT_THAT(ready.body, AllOf(HasSubstr("database"), Not(HasSubstr("queue"))));
  EXPECT_TRUE(host.wait_for_log("\"store_away\""));
  server().start();
  const auto back = SteadyClock::now();
  const std::size_t before = load.size();
  ASSERT_TRUE(load.wait_for(before + 10));
  EXPECT_LT(SteadyClock::now() - back, std::chrono::seconds(5));
  EXPECT_TRUE(host.wait_for_log("\"store_back\""));
  const std::string log = host.log_text();
  EXPECT_EQ(log.find("\"store_away\""), log.rfind("\"store_away\""));
  EXPECT_EQ(log.find("\"webhooks_wait\""), log.rfind("\"webhooks_wait\""));
  EXPECT_THAT(log, Not(HasSubstr("\"store_full\"")));
  EXPECT_THAT(log, Not(HasSubstr("\"task_failed\"")));
  load.end();
  expect_each_once(host, key, load);
}

TEST_F(Hosts, LinesThatComeWhileTheDatabaseIsAway_AreRefusedUntilLater) {
  ServiceProcess& host = add_host();
  const std::string key = host.make_key();
  const auto chunk = [](const std::string& line) {
    char size[16];
    std::snprintf(size, sizeof size, "%zx\r\n", line.size() + 1);
    return size + line + "\n\r\n";
  };
  // Lines are taken up in batches, of which the first has 8 MiB.
  std::string first_batch;
  for (int i = 0; i < 9; ++i) {
    json run = json::parse(failing_run("before" + std::to_string(i)));
    run["notes"] = std::string(1'000'000, 'n');
    first_batch += chunk(run.dump());
  }
  HttpClient client = HttpClient::to(host.port(), 20'000);
  ASSERT_TRUE(client.send("POST /v1/ingest/runs HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-ndjson\r\nAuthorization: Bearer " +
                          key + "\r\nTransfer-Encoding: chunked\r\n\r\n" + first_batch));
  ASSERT_TRUE(comes_true([&] { return host.get("/v1/runs/before8", key).status == 200; }));
  server().stop("immediate");
  // From then on, look-ups are refused before they wait for the database.
  EXPECT_TRUE(comes_true([&] { return metric(host, "runwarden_store_watch_age_seconds") > 1.5; }));
  ASSERT_TRUE(client.send(chunk(failing_run("away-1")) + chunk(failing_run("away-2")) + "0\r\n\r\n"));
  auto answer = client.answer();
  server().start();
  ASSERT_TRUE(answer);
  const json results = json::parse(answer->body).value("results", json::array());
  ASSERT_EQ(results.size(), 11u) << answer->body;
  EXPECT_EQ(results[8]["status"], 201);
  for (const json& line : {results[9], results[10]}) {
    EXPECT_EQ(line["status"], 503) << line;
    EXPECT_EQ(line["code"], "unavailable") << line;
  }
  EXPECT_FALSE(answer->header("retry-after").empty());
  EXPECT_THAT(host.log_text(), Not(HasSubstr("\"line_failed\"")));
}

TEST_F(Hosts, ListThatTheDatabaseRefuses_IsNoListWithRecordsMissing) {
  ServiceProcess& host = add_host();
  const std::string key = host.make_key();
  ASSERT_EQ(host.post("/v1/ingest/runs", key, failing_run("a")).status, 201);
  auto admin = server().admin(database_);
  admin.script("ALTER TABLE runwarden.review RENAME TO elsewhere");
  const HttpAnswer refused = host.get("/v1/runs", key);
  EXPECT_EQ(refused.status, 500) << refused.body;
  EXPECT_THAT(refused.body, Not(HasSubstr("review"))) << "the database's words are for the log";
  EXPECT_TRUE(host.wait_for_log("\"store_fault\""));
  admin.script("ALTER TABLE runwarden.elsewhere RENAME TO review");
  EXPECT_EQ(listed(host, key, "runs", "runId"), (std::map<std::string, int>{{"a", 1}}));
}

TEST_F(Hosts, ReadThatTheDatabaseCancels_IsRefusedUntilLater) {
  ServiceProcess& host = add_host();
  const std::string key = host.make_key();
  ASSERT_EQ(host.post("/v1/ingest/runs", key, failing_run("a")).status, 201);
  auto admin = server().admin(database_);
  admin.script("BEGIN; LOCK TABLE runwarden.failure, runwarden.run IN ACCESS EXCLUSIVE MODE");
  auto answer = std::async(std::launch::async, [&] { return host.get("/v1/runs", key); });
  auto canceling = server().admin(database_);
  while (answer.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready) {
    canceling.query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'");
  }
  admin.script("COMMIT");
  const HttpAnswer refused = answer.get();
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_FALSE(refused.header("retry-after").empty());
  EXPECT_EQ(host.get("/v1/runs", key).status, 200);
}

// Requests are told of equally on both: one is first, the others get its result.
TEST_F(Hosts, EventsThatEndARunRacedOnTwoHosts_AreAnsweredWithItsEnd) {
  for (int i = 0; i < 2; ++i) add_host();
  const std::string key = hosts_[0]->make_key();
  for (int round = 0; round < 5; ++round) {
    const std::string body =
        R"({"runId":"r)" + std::to_string(round) + R"(","final":true,"events":[{"type":"tool_call","eventId":"e","name":"t"}]})";
    std::vector<std::future<HttpAnswer>> answers;
    for (int i = 0; i < 6; ++i) {
      answers.push_back(std::async(std::launch::async, [&, i] { return hosts_[i % 2]->post("/v1/ingest/events", key, body); }));
    }
    std::map<int, int> counts;
    for (auto& answer : answers) {
      const HttpAnswer one = answer.get();
      ++counts[one.status];
      EXPECT_EQ(json::parse(one.body)["state"], "resolved") << one.body;
    }
    EXPECT_EQ(counts, (std::map<int, int>{{200, 5}, {201, 1}}));
  }
}

// Whichever comes first: an answer that shows an end shows one with the request's own events in it, and one that says open leaves it open.
TEST_F(Hosts, EventsSentWhileAnotherHostEndsTheirRun_AreInTheEndThatAnswersThemOrOpen) {
  for (int i = 0; i < 2; ++i) add_host();
  const std::string key = hosts_[0]->make_key();
  for (int round = 0; round < 60; ++round) {
    const std::string id = "raced-end-" + std::to_string(round);
    const auto events = [&](const std::string& event, bool final) {
      return json{{"runId", id}, {"final", final}, {"events", {{{"type", "tool_call"}, {"eventId", event}, {"name", event}}}}}.dump();
    };
    auto ends = std::async(std::launch::async, [&] { return hosts_[0]->post("/v1/ingest/events", key, events("a", true)); });
    const HttpAnswer more = hosts_[1]->post("/v1/ingest/events", key, events("b", false));
    const HttpAnswer ended = ends.get();
    EXPECT_EQ(json::parse(ended.body)["state"], "resolved") << ended.body;
    const json answer = json::parse(more.body);
    const json now = json::parse(hosts_[0]->get("/v1/runs/" + id, key).body);
    EXPECT_EQ(now["steps"].size(), 2u) << "nothing is lost";
    if (answer["state"] == "resolved") {
      const std::string revision = std::to_string(answer.value("revision", 1));
      const json shown = json::parse(hosts_[0]->get("/v1/runs/" + id + "?revision=" + revision, key).body);
      EXPECT_THAT(shown.dump(), HasSubstr(R"("stepName":"b")")) << more.body;
    } else if (answer["state"] == "reopened") {
      EXPECT_EQ(more.status, 202) << more.body;
      EXPECT_EQ(now["state"], "open") << "nobody has ended it since";
      EXPECT_EQ(now["revision"], answer["revision"]);
    }
  }
}

TEST_F(Hosts, Commands_WorkBesideTheServicesOrSayWhatToUse) {
  ServiceProcess& host = add_host();
  const std::string key = host.make_key();
  ASSERT_EQ(host.post("/v1/ingest/runs", key, failing_run("kept")).status, 201);
  const CommandResult migrated = host.cli({"migrate", "--status"});
  EXPECT_EQ(migrated.exit_code, 0) << migrated.err;
  const CommandResult backup = host.cli({"backup", host.folder() / "copy"});
  EXPECT_EQ(backup.exit_code, 1);
  EXPECT_THAT(backup.err, HasSubstr("pg_basebackup"));
  EXPECT_THAT(host.cli({"compact"}).err, HasSubstr("VACUUM"));
  const CommandResult verified = host.cli({"verify"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  const CommandResult exported = host.cli({"export", "--tenant", "acme"});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.out, HasSubstr("kept"));

  ServiceProcess folder;  // on LMDB
  folder.stop();
  const CommandResult imported = folder.cli({"import"}, exported.out);
  EXPECT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(records_of(folder.cli({"export", "--tenant", "acme"}).out), records_of(exported.out));
  folder.start();
  const std::string folder_key = folder.make_key();
  EXPECT_EQ(folder.get("/v1/runs/kept", folder_key).body, host.get("/v1/runs/kept", key).body);

  EXPECT_EQ(host.cli({"purge", "--tenant", "acme", "--yes"}).exit_code, 0);
  EXPECT_EQ(host.get("/v1/runs/kept", key).status, 404);
  EXPECT_EQ(host.cli({"import"}, exported.out).exit_code, 0);
  EXPECT_EQ(host.get("/v1/runs/kept", key).status, 200);
}

TEST_F(Hosts, Check_RefusesWhatWouldLeakThePasswordOrTheRecords) {
  const TempFolder folder;
  const auto check = [&](const std::string& store) { return with_config(folder, "check", store); };
  EXPECT_THAT(check("dsn: \"host=db user=rw password=secret\"").err, HasSubstr("password_file"));
  EXPECT_THAT(check("dsn: \"host=db.example.org user=rw sslmode=require\"").err, HasSubstr("verify-full"));
  EXPECT_THAT(check("dsn: \"hos=db\"").err, HasSubstr("store.dsn"));
  constexpr const char* kIsTried = "cannot use the database: could not translate host name";
  EXPECT_THAT(check("dsn: \"host=db.example.invalid user=rw sslmode=require\", allow_plaintext: true").err, HasSubstr(kIsTried));
  EXPECT_THAT(check("dsn: \"host=db.example.invalid user=rw\"").err, HasSubstr(kIsTried));
  folder.write("db.password", "secret\n");
  ::chmod((folder.path() / "db.password").c_str(), 0640);
  EXPECT_THAT(check("dsn: \"host=db.example.org user=rw\", password_file: db.password").err, HasSubstr("chmod 0600"));
  ::chmod((folder.path() / "db.password").c_str(), 0600);
  EXPECT_THAT(check("dsn: \"host=db.example.invalid user=rw\", password_file: db.password").err, HasSubstr(kIsTried));
}

TEST_F(Hosts, StartedAtOnceOnAnEmptyDatabase_BothServe) {
  std::vector<std::unique_ptr<ServiceProcess>> started(2);
  std::vector<std::thread> starting;
  for (auto& host : started) starting.emplace_back([&] { host = std::make_unique<ServiceProcess>(options()); });
  for (std::thread& thread : starting) thread.join();
  for (auto& host : started) hosts_.push_back(std::move(host));
  const std::string key = hosts_[0]->make_key();
  EXPECT_EQ(hosts_[0]->post("/v1/ingest/runs", key, failing_run("a")).status, 201);
  EXPECT_EQ(hosts_[1]->post("/v1/ingest/runs", key, failing_run("b")).status, 201);
}

TEST_F(Hosts, MigrateTwiceAtOnceOnAnEmptyDatabase_DoesEachStepOnce) {
  std::vector<CommandResult> results(3);
  std::vector<std::thread> commands;
  for (CommandResult& result : results) {
    commands.emplace_back([&] {
      const TempFolder folder;
      result = with_config(folder, "migrate", "dsn: \"" + dsn() + "\"");
    });
  }
  for (std::thread& thread : commands) thread.join();
  for (const CommandResult& result : results) EXPECT_EQ(result.exit_code, 0) << result.err;
  auto connection = server().admin(database_);
  EXPECT_EQ(connection.query("SELECT count(*) FROM runwarden.migration").number(0, 0), static_cast<std::int64_t>(store::postgres::schema_steps().size()));
}

TEST_F(Hosts, OlderSchema_IsRefusedUntilItIsRaised_AndANewerOneAltogether) {
  auto connection = server().admin(database_);
  store::postgres::make_schema(connection, 0);
  const TempFolder folder;
  const std::string place = "dsn: \"" + dsn() + "\"";
  connection.query("UPDATE runwarden.migration SET version = 1000, compatible = 1000 WHERE version = 1");
  const CommandResult status = with_config(folder, "migrate", place, {"--status"});
  EXPECT_EQ(status.exit_code, 1);
  EXPECT_THAT(status.out, HasSubstr("upgrade this host"));
  for (const char* command : {"serve", "migrate", "check"}) {
    const CommandResult newer = with_config(folder, command, place);
    EXPECT_EQ(newer.exit_code, 1) << command;
    EXPECT_THAT(newer.err, HasSubstr("upgrade this host")) << command;
  }
  connection.script("DROP SCHEMA runwarden CASCADE; CREATE SCHEMA runwarden");
  connection.script("CREATE TABLE runwarden.migration(version int PRIMARY KEY, compatible int, name text, sha256 bytea, applied_ms bigint, applied_by text)");
  connection.script(store::postgres::schema_steps().front().sql);
  const auto digest = sha256(store::postgres::schema_steps().front().sql);
  connection.query("INSERT INTO runwarden.migration VALUES (1, 1, 'records', $1, 0, '')",
                   std::move(store::postgres::Params().bytes({reinterpret_cast<const char*>(digest.data()), digest.size()})));
  for (const char* command : {"serve", "check"}) {
    const CommandResult older = with_config(folder, command, place);
    EXPECT_EQ(older.exit_code, 1) << command;
    EXPECT_THAT(older.err, HasSubstr("`runwarden migrate`")) << command;
  }
  EXPECT_EQ(with_config(folder, "migrate", place).exit_code, 0);
  ServiceProcess& host = add_host();
  EXPECT_EQ(host.post("/v1/ingest/runs", host.make_key(), failing_run("after")).status, 201);
}

TEST_F(Hosts, ThreeHosts_ShareKeysEventsAndLimits) {
  ServiceProcess::Options limited = options();
  limited.limits = "{requests_per_second: 30, burst: 30}";
  for (int i = 0; i < 3; ++i) add_host(limited);
  for (auto& host : hosts_) EXPECT_TRUE(comes_true([&] { return metric(*host, "runwarden_hosts") == 3; }));
  const std::string key = hosts_[0]->make_key();
  const std::vector<std::string> events = {R"({"type":"run_started","userRequestText":"Refund order 8842"})",
                                           R"({"type":"tool_call","name":"issue_refund","status":"failed","error":"502 Bad Gateway"})",
                                           R"({"type":"model_output","text":"Your refund has been processed."})",
                                           R"({"type":"run_finished","success":true})"};
  for (std::size_t i = 0; i < events.size(); ++i) {
    const HttpAnswer answer = hosts_[i % 3]->post("/v1/ingest/events", key, R"({"runId":"walks","events":[)" + events[i] + "]}");
    ASSERT_THAT(answer.status, testing::AnyOf(200, 201, 202)) << answer.body;
  }
  for (auto& host : hosts_) EXPECT_EQ(listed(*host, key, "failures", "runId"), (std::map<std::string, int>{{"walks", 1}}));

  // A key of another tenant has a bucket of its own: a third of the burst on each host, and what flows in meanwhile.
  const std::string other = hosts_[0]->make_key("other");
  for (auto& host : hosts_) {
    const auto since = SteadyClock::now();
    int taken = 0;
    while (host->get("/v1/runs", other).status == 200 && taken < 100) ++taken;
    const double elapsed_s = std::chrono::duration<double>(SteadyClock::now() - since).count();
    EXPECT_GE(taken, 10);
    EXPECT_LE(taken, 10 + 10 * elapsed_s + 1);
  }
  EXPECT_EQ(hosts_[2]->stop(), 0);
  EXPECT_TRUE(comes_true([&] { return metric(*hosts_[0], "runwarden_hosts") == 2; })) << "who goes says so";
}

// A host claims runs and is killed before it can end them: what it writes is held up by a lock.
TEST_F(Hosts, HostKilledWithItsClaims_HasThemEndedByAnotherAfterTheLease) {
  constexpr int kRuns = 5;
  ServiceProcess::Options soon = options();
  soon.yaml = "buffer: {idle_timeout: 1s}\n";
  ServiceProcess& killed = add_host(soon);
  const std::string key = killed.make_key();
  auto connection = server().admin(database_);
  auto locking = server().admin(database_);
  locking.script("BEGIN; LOCK TABLE runwarden.failure IN EXCLUSIVE MODE");
  for (int i = 0; i < kRuns; ++i) {
    const std::string body = R"({"runId":"open-)" + std::to_string(i) +
                             R"(","events":[{"type":"tool_call","name":"issue_refund","status":"failed","error":"502 Bad Gateway"},)" +
                             R"({"type":"model_output","text":"Your refund has been processed."}]})";
    ASSERT_EQ(killed.post("/v1/ingest/events", key, body).status, 202);
  }
  const auto held = [&] {
    std::map<std::string, std::int64_t> tokens;
    const auto rows = connection.query("SELECT run_id, token FROM runwarden.open_run WHERE token % 2 = 1");
    for (std::size_t row = 0; row < rows.size(); ++row) tokens[std::string(rows.bytes(row, 0))] = rows.number(row, 1);
    return tokens;
  };
  ASSERT_TRUE(comes_true([&] { return !held().empty(); }));
  const auto claimed = held();
  const std::string its_own = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'runwarden' AND backend_start < '" +
                              std::string(connection.query("SELECT clock_timestamp()::text").bytes(0, 0)) + "' AND pid NOT IN (pg_backend_pid(), ";
  ServiceProcess& other = add_host(soon);
  killed.kill_hard();
  const auto since = SteadyClock::now();
  connection.query(its_own + std::to_string(locking.query("SELECT pg_backend_pid()").number(0, 0)) + ")");
  locking.script("COMMIT");
  EXPECT_THAT(held(), IsSupersetOf(claimed)) << "they are the killed one's until its lease ends";
  EXPECT_TRUE(comes_true([&] { return listed(other, key, "failures", "runId").size() == kRuns; }, std::chrono::seconds(20)));
  EXPECT_LT(SteadyClock::now() - since, std::chrono::seconds(15));
  for (const auto& [id, times] : listed(other, key, "failures", "runId")) EXPECT_EQ(times, 1) << id;
  EXPECT_EQ(connection.query("SELECT count(*) FROM runwarden.open_run").number(0, 0), 0);
}

// A machine whose clock is wrong goes by the database's.
TEST_F(Hosts, HostWhoseClockIsAnHourOff_DatesRecordsAndKeysAsTheOther) {
  const TempFolder folder;
  for (const int off_s : {3600, -3600}) {
    hosts_.clear();
    ServiceProcess::Options right = options();
    right.yaml = "buffer: {idle_timeout: 2s}\n";
    ServiceProcess::Options wrong = right;
    wrong.environment = preloaded(RUNWARDEN_TEST_WRONG_CLOCK, {{"WRONG_CLOCK", folder.write("offset", std::to_string(off_s))}});
    ServiceProcess& a = add_host(right);
    ServiceProcess& b = add_host(wrong);
    EXPECT_NEAR(metric(a, "runwarden_clock_offset_seconds"), 0, 60);
    EXPECT_NEAR(metric(b, "runwarden_clock_offset_seconds"), off_s, 60);

    // Made on the machine with the wrong clock, for half an hour.
    std::vector<std::string> command{"/usr/bin/env"};
    for (const auto& [name, value] : wrong.environment) command.push_back(name + "=" + value);
    command.insert(command.end(), {runwarden_binary(), "keys", "create", "--tenant", "acme", "--scopes", "ingest,read", "--expires", "30m",
                                   "--config", b.config_path()});
    const CommandResult made = run_command(command);
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const std::string key = made.out.substr(0, made.out.find('\n'));
    const json keys = json::parse(a.cli({"keys", "list", "--json"}).out);
    std::string last;
    for (const json& one : keys) last = std::max(last, one["expiresAt"].get<std::string>());
    const auto in_utc = [](std::time_t at) {
      char text[32] = {};
      std::tm parts{};
      std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M", ::gmtime_r(&at, &parts));
      return std::string(text);
    };
    EXPECT_GE(last, in_utc(std::time(nullptr) + 28 * 60));
    EXPECT_LE(last, in_utc(std::time(nullptr) + 32 * 60));

    const std::string id = "dated-" + std::to_string(off_s);
    ASSERT_EQ(b.post("/v1/ingest/runs", key, failing_run(id), "Idempotency-Key: " + id + "\r\n").status, 201);
    const json run = json::parse(a.get("/v1/runs/" + id, key).body);
    EXPECT_GE(run["receivedAt"].get<std::string>(), in_utc(std::time(nullptr) - 60));
    EXPECT_LE(run["receivedAt"].get<std::string>(), in_utc(std::time(nullptr) + 60));
    EXPECT_GE(run["failures"][0]["detectedAt"].get<std::string>(), in_utc(std::time(nullptr) - 60));
    EXPECT_LE(run["failures"][0]["detectedAt"].get<std::string>(), in_utc(std::time(nullptr) + 60));

    // Neither ends the run early nor late, whichever of them claims it.
    const std::string chat = "chat-" + std::to_string(off_s);
    const auto body = [&](const std::string& event) { return R"({"runId":")" + chat + R"(","events":[)" + event + "]}"; };
    const auto begun = SteadyClock::now();
    ASSERT_EQ(b.post("/v1/ingest/events", key, body(R"({"type":"tool_call","name":"issue_refund","status":"failed","error":"502 Bad Gateway"})")).status, 202);
    ASSERT_EQ(a.post("/v1/ingest/events", key, body(R"({"type":"model_output","text":"Your refund has been processed."})")).status, 202);
    // A database that was away for a moment gives open runs 30 s more.
    EXPECT_TRUE(comes_true([&] { return json::parse(a.get("/v1/runs/" + chat, key).body)["state"] == "resolved"; }, std::chrono::seconds(60)))
        << a.log_text() << b.log_text();
    EXPECT_GE(SteadyClock::now() - begun, std::chrono::milliseconds(1900));
    EXPECT_EQ(listed(b, key, "failures", "runId")[chat], 1);
    EXPECT_EQ(b.request(get_request("/readyz")).status, 200);
    EXPECT_THAT(b.log_text(), Not(HasSubstr("clock_jumped")));
  }
}

}  // namespace
}  // namespace runwarden::test
