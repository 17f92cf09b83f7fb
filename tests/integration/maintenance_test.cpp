// The commands for a whole store, beside a serving process and in its place: what comes back is what was acknowledged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>
#include <utility>

#include "base/time_text.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
namespace fs = std::filesystem;

json run_with_a_failure(const std::string& id) {
  return {{"runId", id},
          {"userRequestText", "Refund order 8842"},
          {"success", true},
          {"outcomeSummary", "Your refund has been processed."},
          {"mine", {{"kept", {1, "zwei", nullptr}}}},
          {"steps", {{{"stepKind", "tool"}, {"stepName", "issue_refund"}, {"status", "failed"}, {"errorMessage", "502 Bad Gateway"}}}}};
}

// What a read answers: its status and its body.
using Answers = std::map<std::string, std::pair<int, std::string>>;

Answers ask(const ServiceProcess& service, const std::string& key, const std::vector<std::string>& paths) {
  Answers answers;
  for (const std::string& path : paths) {
    const HttpAnswer answer = service.get(path, key);
    answers[path] = {answer.status, answer.body};
  }
  return answers;
}

const std::vector<std::string> kLists = {
    "/v1/runs", "/v1/runs?detector=false_success", "/v1/runs?state=open", "/v1/failures", "/v1/changes", "/v1/policies"};

// A tenant with some of everything; says which paths lead to it.
class Records {
 public:
  Records(const ServiceProcess& service, const std::string& key) : service_(service), key_(key) {
    post("policies", {{"policy", "refunds"}, {"content", {{"max", 100}}}, {"author", "ann"}, {"at", "2026-01-01T00:00:00Z"}}, 201);
    post("policies", {{"policy", "refunds"}, {"content", {{"max", 200}}}, {"author", "bob"}, {"at", "2026-03-01T00:00:00Z"}}, 201);
    post("changes", {{"kind", "code"}, {"ref", "9f3c2d1"}, {"summary", "New refund client"}}, 201);
    for (const char* id : {"one", "two"}) {
      const json answer = json::parse(post("runs", run_with_a_failure(id), 201));
      EXPECT_EQ(answer["failures"].size(), 1u);
      const std::string path = "/v1/failures/" + answer["failures"][0]["failureId"].get<std::string>();
      paths_.insert(paths_.end(), {"/v1/runs/" + std::string(id), path, path + "/investigation"});
    }
    post("runs", {{"runId", "fine"}}, 201);
    post("events", {{"runId", "streamed"}, {"events", {event("e1")}}, {"final", true}}, 201);
    post("events", {{"runId", "streamed"}, {"events", {event("e2")}}, {"final", true}}, 201);
    post("events", {{"runId", "open"}, {"events", {event("e1"), event("e2")}}}, 202);
    answer_kept_ = post("runs", keyed_run(), 201, "Idempotency-Key: again\r\n");
    for (const char* path : {"/v1/runs/fine", "/v1/runs/streamed", "/v1/runs/streamed?revision=1", "/v1/runs/open", "/v1/policies/refunds",
                             "/v1/policies/refunds?at=2026-02-01T00:00:00Z", "/v1/policies/refunds?at=2026-06-01T00:00:00Z"}) {
      paths_.emplace_back(path);
    }
    paths_.insert(paths_.end(), kLists.begin(), kLists.end());
  }

  static json event(const std::string& id) {
    return {{"type", "tool_call"}, {"eventId", id}, {"name", "look_up_" + id}, {"status", "completed"}, {"output", "found"}};
  }
  static json keyed_run() { return {{"userRequestText", "What is the time?"}}; }

  const std::vector<std::string>& paths() const { return paths_; }
  const std::string& answer_kept() const { return answer_kept_; }  // under the Idempotency-Key "again"

 private:
  std::string post(const std::string& what, const json& body, int status, const std::string& fields = {}) {
    const HttpAnswer answer = service_.post("/v1/ingest/" + what, key_, body.dump(), fields);
    EXPECT_EQ(answer.status, status) << what << ": " << answer.body;
    return answer.body;
  }

  const ServiceProcess& service_;
  std::string key_;
  std::vector<std::string> paths_;
  std::string answer_kept_;
};

// Clients, each on a connection and a thread of its own, that post runs until this is stopped.
class Clients {
 public:
  Clients(const ServiceProcess& service, const std::string& key, int count) {
    for (int c = 0; c < count; ++c) threads_.emplace_back([this, port = service.port(), key, c] { post(port, key, c); });
  }
  ~Clients() { stop(); }
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  // The runs acknowledged so far, once there are that many.
  std::vector<std::string> wait_for(std::size_t enough) {
    for (int i = 0; i < 30'000 && acknowledged().size() < enough; ++i) ::poll(nullptr, 0, 1);
    EXPECT_GE(acknowledged().size(), enough);
    return acknowledged();
  }
  std::vector<std::string> acknowledged() {
    const std::lock_guard lock(mutex_);
    return acknowledged_;
  }
  void stop() {
    stopping_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  int refused() const { return refused_; }

 private:
  void post(std::uint16_t port, const std::string& key, int number) {
    HttpClient client = HttpClient::to(port, 60'000);
    for (int i = 0; !stopping_; ++i) {
      const std::string id = "c" + std::to_string(number) + "-" + std::to_string(i);
      client.send(post_request("/v1/ingest/runs", run_with_a_failure(id).dump(), "Authorization: Bearer " + key + "\r\n"));
      const auto answer = client.answer();
      if (!answer || answer->status != 201) {
        ++refused_;
        return;
      }
      const std::lock_guard lock(mutex_);
      acknowledged_.push_back(id);
    }
  }

  std::mutex mutex_;
  std::vector<std::string> acknowledged_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> refused_{0};
  std::vector<std::thread> threads_;
};

std::size_t count_missing(const ServiceProcess& service, const std::string& key, const std::vector<std::string>& runs) {
  HttpClient client = HttpClient::to(service.port());
  std::size_t missing = 0;
  for (const std::string& run : runs) {
    client.send(get_request("/v1/runs/" + run, "Authorization: Bearer " + key + "\r\n"));
    const auto answer = client.answer();
    if (!answer) return runs.size();
    missing += answer->status != 200 || json::parse(answer->body)["failures"].size() != 1;
  }
  return missing;
}

TEST(WholeStore, AnalyzeOfAnExport_FindsInEachRunWhatTheServiceFound) {
  ServiceProcess service;
  const std::string key = service.make_key("acme");
  const Records records(service, key);
  const std::string file = service.folder() / "acme.ndjson";
  ASSERT_EQ(service.cli({"export", "--tenant", "acme", "--output", file}).exit_code, 0);
  const CommandResult analyzed = service.cli({"analyze", file});
  EXPECT_EQ(analyzed.exit_code, 0) << analyzed.out;
  std::istringstream lines(analyzed.out);
  std::vector<std::string> failing;
  std::size_t answers = 0;
  for (std::string line; std::getline(lines, line); ++answers) {
    const json answer = json::parse(line);
    for (const json& failure : answer["failures"]) failing.push_back(failure["runId"]);
  }
  EXPECT_EQ(answers, 5u) << "one, two, fine, streamed, and the one without an id of the client's";
  EXPECT_THAT(failing, testing::ElementsAre("one", "two"));
  EXPECT_THAT(analyzed.err, HasSubstr("skipped 1 open run in exports"));
}

// The file of a shipped detector.
std::string library_of(const ServiceProcess& service, const std::string& key) {
  for (const json& detector : json::parse(service.cli({"detectors", "list", "--json"}).out)) {
    if (detector["key"] == key) return detector["library"];
  }
  return "no such detector";
}

TEST(WholeStore, DetectorsTest_TakesStoredRunsBesideTheService_AndExports) {
  ServiceProcess service;
  const std::string key = service.make_key("acme");
  const Records records(service, key);
  const std::string library = library_of(service, "false_success");
  const CommandResult stored = service.cli({"detectors", "test", "--json", library, "--tenant", "acme", "--run", "one", "--run", "fine"});
  EXPECT_EQ(stored.exit_code, 0) << stored.err;
  std::istringstream lines(stored.out);
  std::string one, fine;
  ASSERT_TRUE(std::getline(lines, one) && std::getline(lines, fine)) << stored.out;
  EXPECT_EQ(json::parse(one)["file"], "acme/one");
  EXPECT_EQ(json::parse(one)["failures"].size(), 1u);
  EXPECT_EQ(json::parse(fine)["failures"].size(), 0u);
  EXPECT_EQ(service.get("/v1/runs/one", key).status, 200) << "the service goes on";

  const CommandResult missing = service.cli({"detectors", "test", library, "--tenant", "acme", "--run", "nowhere", "--run", "open"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("runwarden: acme/nowhere: the tenant has no run with this id\n"));
  EXPECT_THAT(missing.err, HasSubstr("runwarden: acme/open: the run is still open; judge it once it has resolved\n"));
  const CommandResult nobody = service.cli({"detectors", "test", library, "--tenant", "acne", "--run", "one"});
  EXPECT_EQ(nobody.exit_code, 1);
  EXPECT_THAT(nobody.err, HasSubstr("the store has no tenant \"acne\"; the nearest known one is acme"));

  const std::string file = service.folder() / "acme.ndjson";
  ASSERT_EQ(service.cli({"export", "--tenant", "acme", "--output", file}).exit_code, 0);
  const CommandResult exported = service.cli({"detectors", "test", "--json", library, file});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_EQ(std::count(exported.out.begin(), exported.out.end(), '\n'), 5);
  EXPECT_THAT(exported.out, HasSubstr("{\"file\":\"" + file + "\",\"line\":"));
  EXPECT_THAT(exported.err, HasSubstr("skipped 1 open run in exports"));
}

TEST(WholeStore, ExportedBesideTheService_AndImported_AnswersTheSame) {
  ServiceProcess from;
  const std::string key = from.make_key("acme");
  const Records records(from, key);
  ASSERT_EQ(from.post("/v1/ingest/runs", from.make_key("globex"), run_with_a_failure("foreign").dump()).status, 201);
  const std::string file = from.folder() / "acme.ndjson";
  const CommandResult exported = from.cli({"export", "--tenant", "acme", "--output", file, "--json"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  const Answers before = ask(from, key, records.paths());
  for (const auto& [path, answer] : before) EXPECT_EQ(answer.first, 200) << path << answer.second;

  ServiceProcess to;
  ASSERT_EQ(to.stop(), 0);
  fs::remove_all(to.folder() / "data");
  const CommandResult imported = to.cli({"import", file, "--json"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(json::parse(imported.out)["stored"], json::parse(exported.out));
  EXPECT_EQ(json::parse(imported.out)["alreadyThere"], 0);
  EXPECT_EQ(json::parse(imported.out)["tenants"], json({"acme"}));
  to.start();
  const std::string new_key = to.make_key("acme");
  const Answers after = ask(to, new_key, records.paths());
  for (const auto& [path, answer] : before) EXPECT_EQ(after.at(path), answer) << path;
  EXPECT_EQ(to.get("/v1/runs/foreign", new_key).status, 404);

  const HttpAnswer again = to.post("/v1/ingest/runs", new_key, run_with_a_failure("one").dump());
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(to.post("/v1/ingest/runs", new_key, json{{"runId", "one"}, {"other", 1}}.dump()).status, 409);
  const HttpAnswer keyed = to.post("/v1/ingest/runs", new_key, Records::keyed_run().dump(), "Idempotency-Key: again\r\n");
  EXPECT_EQ(keyed.status, 200);
  EXPECT_EQ(keyed.body, records.answer_kept());
  EXPECT_EQ(to.post("/v1/ingest/runs", new_key, "{}", "Idempotency-Key: again\r\n").status, 409);
  const json more{{"runId", "open"}, {"events", {Records::event("e2"), Records::event("e3")}}, {"final", true}};
  EXPECT_EQ(to.post("/v1/ingest/events", new_key, more.dump()).status, 201);
  EXPECT_EQ(json::parse(to.get("/v1/runs/open", new_key).body)["steps"].size(), 3u) << "it goes on where it was, and knows e2";
}

// Of a group, what its records do not say: what was decided about it, its history, the answers to keys that were sent with a decision.
TEST(WholeStore, GroupsExportedAndImported_AnswerTheSame) {
  ServiceProcess from;
  const std::string key = from.make_key("acme", "ingest,read,manage");
  for (const char* id : {"one", "two"}) ASSERT_EQ(from.post("/v1/ingest/runs", key, run_with_a_failure(id).dump()).status, 201);
  json other = run_with_a_failure("three");
  other["steps"][0]["stepName"] = "cancel_order";
  other["outcomeSummary"] = "Your order has been cancelled.";
  ASSERT_EQ(from.post("/v1/ingest/runs", key, other.dump()).status, 201);
  const json groups = json::parse(from.get("/v1/clusters?sort=count", key).body)["items"];
  ASSERT_EQ(groups.size(), 2u);
  const std::string first = "/v1/clusters/" + groups[0]["clusterId"].get<std::string>();
  const std::string second = "/v1/clusters/" + groups[1]["clusterId"].get<std::string>();
  const std::string resolve = json{{"action", "resolve"}, {"note", "Fixed in 2.4.2"}}.dump();
  ASSERT_EQ(from.post(first + "/triage", key, resolve, "Idempotency-Key: r\r\n").status, 200);
  json again = run_with_a_failure("four");
  const auto after = std::chrono::system_clock::now() + std::chrono::seconds(1);  // not in the millisecond of the decision
  again["startedAt"] = format_time(std::chrono::duration_cast<std::chrono::milliseconds>(after.time_since_epoch()).count());
  ASSERT_EQ(from.post("/v1/ingest/runs", key, again.dump()).status, 201);
  const json ignore{{"action", "ignore"}, {"until", {{"failures", 100}}}};
  ASSERT_EQ(from.post(second + "/triage", key, ignore.dump()).status, 200);

  const std::vector<std::string> paths = {first + "?from=2026-01-01T00:00:00Z&until=2027-01-01T00:00:00Z", first + "/history", second + "/history",
                                          second + "?from=2026-01-01T00:00:00Z&until=2027-01-01T00:00:00Z"};
  const Answers before = ask(from, key, paths);
  EXPECT_THAT(before.at(paths[0]).second, HasSubstr(R"("state":"regressed")"));
  EXPECT_THAT(before.at(paths[1]).second, HasSubstr("Fixed in 2.4.2"));
  EXPECT_THAT(before.at(paths[3]).second, HasSubstr(R"("state":"ignored")"));
  const std::string file = from.folder() / "acme.ndjson";
  ASSERT_EQ(from.cli({"export", "--tenant", "acme", "--output", file}).exit_code, 0);

  ServiceProcess to;
  ASSERT_EQ(to.stop(), 0);
  fs::remove_all(to.folder() / "data");
  const CommandResult imported = to.cli({"import", file, "--json"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(json::parse(imported.out)["stored"]["group"], 2);
  EXPECT_EQ(json::parse(imported.out)["stored"]["triage"], 3);
  EXPECT_EQ(to.cli({"verify"}).exit_code, 0);
  to.start();
  const std::string new_key = to.make_key("acme", "ingest,read,manage");
  for (const auto& [path, answer] : ask(to, new_key, paths)) EXPECT_EQ(answer, before.at(path)) << path;
  EXPECT_EQ(json::parse(to.get("/v1/clusters?sort=count&state=all", new_key).body)["items"].size(), 2u);
  EXPECT_EQ(to.post(first + "/triage", new_key, json{{"action", "reopen"}}.dump(), "Idempotency-Key: r\r\n").status, 409) << "the key was used for the resolve";

  const json purged = json::parse(to.cli({"purge", "--tenant", "acme", "--yes", "--json"}).out);
  EXPECT_EQ(purged["deleted"]["groupDecisions"], 3);
  EXPECT_EQ(to.get(first, new_key).status, 404);
  EXPECT_EQ(to.cli({"verify"}).exit_code, 0);
}

TEST(GroupCommands, BesideTheService_ShowAndDecide) {
  ServiceProcess::Options options;
  options.yaml = "redact: {rules: [{kind: card}]}\n";
  ServiceProcess service(options);
  const std::string key = service.make_key("acme");
  ASSERT_EQ(service.post("/v1/ingest/runs", key, run_with_a_failure("one").dump()).status, 201);
  ASSERT_EQ(service.post("/v1/ingest/changes", key, json{{"kind", "code"}, {"ref", "9f3c2d1"}}.dump()).status, 201);
  const json listed = json::parse(service.cli({"clusters", "list", "--tenant", "acme", "--json"}).out);
  ASSERT_EQ(listed.size(), 1u);
  const json group = json::parse(service.get("/v1/clusters", key).body)["items"][0];
  for (const auto& [name, value] : listed[0].items()) EXPECT_EQ(value, group[name]) << name;
  const std::string id = group["clusterId"];
  const auto state = [&] { return json::parse(service.get("/v1/clusters/" + id, key).body)["state"].get<std::string>(); };
  const auto decide = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "clusters");
    words.insert(words.end(), {id, "--tenant", "acme"});
    return service.cli(words);
  };

  const std::string change = json::parse(service.get("/v1/changes", key).body)["items"][0]["changeId"];
  const CommandResult resolved = decide({"resolve", "--note", "Card 4111 1111 1111 1111 refunded", "--fixed-by", change});
  EXPECT_EQ(resolved.exit_code, 0) << resolved.err;
  EXPECT_THAT(resolved.out, HasSubstr(id + " is resolved: False success"));
  EXPECT_EQ(state(), "resolved");
  EXPECT_TRUE(json::parse(service.cli({"clusters", "list", "--tenant", "acme", "--json"}).out).empty()) << "only open ones";
  EXPECT_EQ(json::parse(decide({"ignore", "--until", "failures=3", "--json"}).out)["state"], "ignored");
  EXPECT_EQ(state(), "ignored");
  ASSERT_EQ(decide({"ignore", "--until", "7d"}).exit_code, 0);
  ASSERT_EQ(decide({"reopen"}).exit_code, 0);
  EXPECT_EQ(state(), "new");
  ASSERT_EQ(service.post("/v1/ingest/runs", key, run_with_a_failure("two").dump()).status, 201) << "the service goes on";

  const json shown = json::parse(decide({"show", "--json"}).out);
  EXPECT_EQ(shown["count"], 2);
  EXPECT_EQ(shown["history"], json::parse(service.get("/v1/clusters/" + id + "/history", key).body)["items"]);
  const json& first = shown["history"].back();
  EXPECT_EQ(first["fixedBy"], change);
  EXPECT_THAT(first["note"].get<std::string>(), testing::Not(HasSubstr("4111"))) << "redacted as a change's summary is";
  EXPECT_FALSE(first["author"].get<std::string>().empty());
  const std::string text = decide({"show"}).out;
  EXPECT_THAT(text, HasSubstr("ignore, until 3 more failures"));

  const CommandResult unknown_change = decide({"resolve", "--fixed-by", "change_1"});
  EXPECT_EQ(unknown_change.exit_code, 1);
  EXPECT_THAT(unknown_change.err, HasSubstr("/fixedBy is not the id of a change of this tenant"));
  const CommandResult unknown = service.cli({"clusters", "show", "cl_00000000000000000000", "--tenant", "acme"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("no group \"cl_00000000000000000000\""));
  EXPECT_THAT(service.cli({"clusters", "list", "--tenant", "nobody"}).err, HasSubstr("no tenant \"nobody\""));
  EXPECT_EQ(service.cli({"verify"}).exit_code, 0);
}

TEST(WholeStore, BackedUpWhile64ClientsPost_HoldsAllThatWasAcknowledgedBefore) {
  ServiceProcess service;
  const std::string key = service.make_key();
  const std::string copy = service.folder() / "copy";
  std::vector<std::string> before;
  {
    Clients clients(service, key, 64);
    before = clients.wait_for(300);
    const CommandResult backed_up = service.cli({"backup", copy, "--json"});
    clients.stop();
    ASSERT_EQ(backed_up.exit_code, 0) << backed_up.err;
    EXPECT_GT(json::parse(backed_up.out)["entries"], 300);
    EXPECT_EQ(clients.refused(), 0) << "nobody is refused because of a backup";
    EXPECT_GT(clients.acknowledged().size(), before.size()) << "nobody posted meanwhile: the test shows nothing";
  }
  const CommandResult verified = service.cli({"verify", "--data-dir", copy});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  ASSERT_EQ(service.stop(), 0);

  ServiceProcess::Options options;
  options.environment = {{"RUNWARDEN_STORE__PATH", copy}};
  const ServiceProcess restored(options);
  EXPECT_EQ(count_missing(restored, key, before), 0u) << "of " << before.size();
  EXPECT_EQ(restored.post("/v1/ingest/runs", key, run_with_a_failure("new").dump()).status, 201);
}

TEST(WholeStore, VerifiedWhileClientsPost_HasNoFalseAlarm) {
  ServiceProcess service;
  Clients clients(service, service.make_key(), 8);
  clients.wait_for(50);
  for (int round = 0; round < 3; ++round) {
    const std::size_t before = clients.acknowledged().size();
    const CommandResult verified = service.cli({"verify", "--json"});
    ASSERT_EQ(verified.exit_code, 0) << verified.out << verified.err;
    const json told = json::parse(verified.out);
    EXPECT_EQ(told["ok"], true);
    EXPECT_EQ(told["faults"], json::array());
    EXPECT_GE(told["entries"]["runs"], before);
  }
}

// Changes every place of a file where these bytes stand; says how many there were.
int damage(const fs::path& path, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  const std::string text = all.str();
  int places = 0;
  for (auto at = text.find(bytes); at != std::string::npos; at = text.find(bytes, at + 1)) {
    file.seekp(static_cast<std::streamoff>(at));
    file.put('#');
    ++places;
  }
  return places;
}

TEST(WholeStore, VerifiedAfterBytesOfTheFileChanged_NamesThePlace) {
  ServiceProcess service;
  json run = run_with_a_failure("damaged");
  run["steps"][0]["note"] = "bytes-that-stand-nowhere-else";  // of a step: in the body alone
  ASSERT_EQ(service.post("/v1/ingest/runs", service.make_key(), run.dump()).status, 201);
  ASSERT_EQ(service.stop(), 0);
  ASSERT_EQ(service.cli({"verify"}).exit_code, 0);
  ASSERT_GT(damage(service.folder() / "data" / "data.mdb", run["steps"][0]["note"]), 0);
  const CommandResult verified = service.cli({"verify"});
  EXPECT_EQ(verified.exit_code, 1);
  EXPECT_THAT(verified.out, HasSubstr("fault: runs, key 0x"));
  const json told = json::parse(service.cli({"verify", "--json"}).out);
  EXPECT_EQ(told["ok"], false);
  EXPECT_EQ(told["faultCount"], 1) << told;
  EXPECT_EQ(told["faults"][0]["table"], "runs");
  EXPECT_NE(told["faults"][0]["key"], "");
  EXPECT_NE(told["faults"][0]["remedy"], "");
  const CommandResult backed_up = service.cli({"backup", service.folder() / "copy"});
  EXPECT_EQ(backed_up.exit_code, 1) << "a damaged store is no backup";
  EXPECT_FALSE(fs::exists(service.folder() / "copy"));
}

TEST(WholeStore, VerifiedAfterItsPagesAreOverwritten_SaysSoAndEnds) {
  ServiceProcess service;
  const std::string key = service.make_key();
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(service.post("/v1/ingest/runs", key, run_with_a_failure("r" + std::to_string(i)).dump()).status, 201);
  ASSERT_EQ(service.stop(), 0);
  {
    const fs::path path = service.folder() / "data" / "data.mdb";
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(std::streamoff{2} * 4096);  // after the two pages that lead to all others
    file << std::string(fs::file_size(path) - std::uintmax_t{2} * 4096, '\xff');
  }
  const CommandResult verified = service.cli({"verify"});
  EXPECT_EQ(verified.exit_code, 1) << verified.out << verified.err;
  EXPECT_THAT(verified.out + verified.err, HasSubstr("restore a backup"));
}

TEST(WholeStore, PurgedBesideTheService_TheTenantIsGoneAndOthersAreUntouched) {
  ServiceProcess service;
  const std::string key = service.make_key("acme");
  const std::string other_key = service.make_key("globex");
  const Records records(service, key);
  const Records others(service, other_key);
  const Answers before = ask(service, other_key, others.paths());

  const CommandResult unsure = service.cli({"purge", "--tenant", "acme"});
  EXPECT_EQ(unsure.exit_code, 2);
  EXPECT_THAT(unsure.err, HasSubstr("--yes"));
  const CommandResult counted = service.cli({"purge", "--tenant", "acme", "--dry-run", "--json"});
  ASSERT_EQ(counted.exit_code, 0) << counted.err;
  EXPECT_EQ(service.get("/v1/runs/one", key).status, 200) << "nothing was deleted";

  const CommandResult purged = service.cli({"purge", "--tenant", "acme", "--yes", "--json"});
  ASSERT_EQ(purged.exit_code, 0) << purged.err;
  const json receipt = json::parse(purged.out);
  EXPECT_EQ(receipt["tenant"], "acme");
  EXPECT_TRUE(receipt["before"].is_null());
  EXPECT_EQ(receipt["deleted"]["runs"], 6) << receipt;
  const json would_delete = json::parse(counted.out)["wouldDelete"];
  EXPECT_FALSE(would_delete.empty());
  for (const auto& [name, count] : would_delete.items()) EXPECT_EQ(count, receipt["deleted"][name]) << name;
  EXPECT_EQ(receipt["deleted"]["failures"], 2);
  EXPECT_EQ(receipt["deleted"]["policies"], 2);
  EXPECT_EQ(receipt["deleted"]["changes"], 3) << "a policy's revision is a change as well";
  EXPECT_EQ(receipt["deleted"]["events"], 4);
  EXPECT_EQ(receipt["deleted"]["idempotentAnswers"], 1);

  for (const auto& [path, answer] : ask(service, key, kLists)) {
    EXPECT_EQ(answer, (std::pair<int, std::string>{200, R"({"items":[],"nextCursor":null})"})) << path;
  }
  for (const std::string& path : records.paths()) {
    if (std::find(kLists.begin(), kLists.end(), path) != kLists.end()) continue;
    EXPECT_EQ(service.get(path, key).status, 404) << path;
  }
  EXPECT_EQ(service.post("/v1/ingest/runs", key, run_with_a_failure("one").dump()).status, 201) << "it is a new run";
  const Answers after = ask(service, other_key, others.paths());
  for (const auto& [path, answer] : before) EXPECT_EQ(after.at(path), answer) << path;
  EXPECT_EQ(service.cli({"verify"}).exit_code, 0);
}

int places_in(const fs::path& path, const std::string& bytes) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  const std::string text = all.str();
  int places = 0;
  for (auto at = text.find(bytes); at != std::string::npos; at = text.find(bytes, at + 1)) ++places;
  return places;
}

TEST(WholeStore, PurgedBytes_StayInFreePagesUntilTheFileIsWrittenAnew_AndTheReceiptSaysSo) {
  ServiceProcess service;
  const std::string key = service.make_key("acme");
  const std::string other_key = service.make_key("globex");
  for (int i = 0; i < 30; ++i) {
    for (const std::string& one : {key, other_key}) {
      const json run{{"runId", "r" + std::to_string(i)}, {"note", one == key ? "of-the-purged-tenant" : "of-the-other-tenant"}};
      ASSERT_EQ(service.post("/v1/ingest/runs", one, run.dump()).status, 201);
    }
  }
  const fs::path data = service.folder() / "data" / "data.mdb";
  const std::vector<std::string> with_compact{"purge", "--tenant", "acme", "--yes", "--compact", "--json"};
  const CommandResult refused = service.cli(with_compact);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("stop the service first"));
  EXPECT_THAT(refused.err, HasSubstr("Nothing was deleted"));
  EXPECT_EQ(service.get("/v1/runs/r1", key).status, 200);

  const CommandResult purged = service.cli({"purge", "--tenant", "acme", "--yes", "--json"});
  ASSERT_EQ(purged.exit_code, 0) << purged.err;
  EXPECT_EQ(json::parse(purged.out)["compacted"], false);
  EXPECT_THAT(json::parse(purged.out)["remains"].get<std::string>(), HasSubstr("stay in free pages"));
  ASSERT_EQ(service.stop(), 0);
  ASSERT_GT(places_in(data, "of-the-purged-tenant"), 0) << "they would be gone without it: the test shows nothing";

  const CommandResult compacted = service.cli(with_compact);
  ASSERT_EQ(compacted.exit_code, 0) << compacted.err;
  EXPECT_EQ(json::parse(compacted.out)["compacted"], true);
  EXPECT_EQ(places_in(data, "of-the-purged-tenant"), 0);
  EXPECT_GE(places_in(data, "of-the-other-tenant"), 30);
  EXPECT_EQ(service.cli({"verify"}).exit_code, 0);
  service.start();
  EXPECT_EQ(service.get("/v1/runs/r1", other_key).status, 200);
  EXPECT_EQ(service.get("/v1/runs/r1", key).status, 404);
}

TEST(WholeStore, ImportAndCompactBesideAService_AreRefusedWithTheRemedy) {
  ServiceProcess service;
  const std::string key = service.make_key();
  ASSERT_EQ(service.post("/v1/ingest/runs", key, run_with_a_failure("one").dump()).status, 201);
  for (const CommandResult& refused : {service.cli({"import"}), service.cli({"compact"})}) {
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr("is being served by another process; stop the service first"));
  }
  EXPECT_EQ(service.get("/v1/runs/one", key).status, 200);
}

TEST(WholeStore, Compacted_IsSmallerAndAnswersTheSame) {
  ServiceProcess service;
  const std::string key = service.make_key("acme");
  const Records records(service, key);
  const Answers before = ask(service, key, records.paths());
  const std::string bulk_key = service.make_key("globex");
  json large = run_with_a_failure("");
  std::minstd_rand random;
  for (int i = 0; i < 30; ++i) {
    std::string note;  // that no compression makes small
    while (note.size() < 100'000) note += std::to_string(random());
    large["runId"] = "large-" + std::to_string(i);
    large["note"] = note;
    ASSERT_EQ(service.post("/v1/ingest/runs", bulk_key, large.dump()).status, 201);
  }
  ASSERT_EQ(service.cli({"purge", "--tenant", "globex", "--yes"}).exit_code, 0);
  ASSERT_EQ(service.stop(), 0);

  const std::uintmax_t size = fs::file_size(service.folder() / "data" / "data.mdb");
  const CommandResult compacted = service.cli({"compact", "--json"});
  ASSERT_EQ(compacted.exit_code, 0) << compacted.err;
  const json told = json::parse(compacted.out);
  EXPECT_EQ(told["bytesBefore"], size);
  EXPECT_EQ(told["bytesAfter"], fs::file_size(service.folder() / "data" / "data.mdb"));
  EXPECT_LT(told["bytesAfter"].get<std::uintmax_t>() + 1'000'000, size);
  service.start();
  const Answers after = ask(service, key, records.paths());
  for (const auto& [path, answer] : before) EXPECT_EQ(after.at(path), answer) << path;
  EXPECT_EQ(service.cli({"verify"}).exit_code, 0);
}

}  // namespace
}  // namespace runwarden::test
