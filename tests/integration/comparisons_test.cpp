// Versions compared over real HTTP: dimensions, differences, baselines, runs with cut texts, and the limits of groups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "support/files.h"
#include "support/get_json.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class Comparisons : public testing::Test {
 protected:
  static ServiceProcess::Options options(const std::string& yaml = "redact: {rules: [{kind: email}]}\n", const std::string& limits = "{}") {
    ServiceProcess::Options options;
    options.yaml = yaml;
    options.limits = limits;
    return options;
  }

  ServiceProcess service_{options()};
  std::string key_ = service_.make_key("acme", "ingest,read,manage");

  // A run that claims a refund after this tool failed, or one that is fine.
  static json run(const json& metadata, const std::string& failed_tool = {}) {
    json run = {{"userRequestText", "Refund order 8842"}, {"success", true}, {"outcomeSummary", "Your refund has been processed."}, {"metadata", metadata}};
    const bool fails = !failed_tool.empty();
    run["steps"] = {{{"stepKind", "tool"}, {"stepName", fails ? failed_tool : "issue_refund"}, {"status", fails ? "failed" : "ok"}}};
    run["steps"][0][fails ? "errorMessage" : "outputSummary"] = fails ? "502 Bad Gateway" : "refund issued, order 8842";
    return run;
  }
  static void post(const ServiceProcess& service, const std::string& key, int count, const json& run) {
    std::string lines;
    for (int i = 0; i < count; ++i) lines += run.dump() + "\n";
    const HttpAnswer answer = service.request("POST /v1/ingest/runs HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer " + key +
                                              "\r\nContent-Type: application/x-ndjson\r\nContent-Length: " + std::to_string(lines.size()) +
                                              "\r\n\r\n" + lines);
    ASSERT_EQ(answer.status, 200) << answer.body;
    ASSERT_EQ(json::parse(answer.body)["accepted"], count) << answer.body;
  }
  void post(int count, const json& run) { post(service_, key_, count, run); }
  json get(const std::string& path) { return get_json(service_, path, key_); }
  json group() { return get("/v1/clusters?state=all")["items"][0]; }
  static json values_of(const json& dimensions, const std::string& name) {
    for (const json& one : dimensions["items"]) {
      if (one["dimension"] == name) return one["values"];
    }
    return json::array();
  }
};

TEST_F(Comparisons, AVersionThatIsWorse_IsFoundByItsNumbers) {
  post(29, run({{"version", "2.4.0"}, {"model", "small"}}));
  post(1, run({{"version", "2.4.0"}, {"model", "large"}}, "issue_refund"));
  post(10, run({{"version", "2.4.1"}, {"model", "small"}}));
  post(20, run({{"version", "2.4.1"}, {"model", "large"}}, "issue_refund"));
  const json dimensions = get("/v1/dimensions");
  ASSERT_THAT(dimensions["items"], SizeIs(2));
  EXPECT_EQ(dimensions["items"][0]["dimension"], "model");
  for (const json& value : values_of(dimensions, "version")) {
    EXPECT_EQ(value["runs"], 30);
    EXPECT_LE(value["firstSeen"], value["lastSeen"]);
  }
  for (const std::string against : {"", "&against=before", "&against=2.4.0"}) {
    const json answer = get("/v1/baseline?dimension=version&value=2.4.1" + against);
    EXPECT_EQ(answer["this"]["affectedRuns"], 20) << against;
    EXPECT_EQ(answer["this"]["runs"], 30);
    EXPECT_EQ(answer["against"]["affectedRuns"], 1);
    EXPECT_EQ(answer["against"]["runs"], 30);
    EXPECT_EQ(answer["verdict"], "worse");
    EXPECT_GT(answer["difference"]["low"], 0.3);
    ASSERT_THAT(answer["groups"], SizeIs(1));
    EXPECT_EQ(answer["groups"][0]["verdict"], "worse");
    EXPECT_EQ(answer["groups"][0]["clusterId"], group()["clusterId"]);
  }
  EXPECT_EQ(get("/v1/baseline?dimension=version&value=2.4.0&against=2.4.1")["verdict"], "better");
  const std::string id = group()["clusterId"];
  const json differences = get("/v1/clusters/" + id + "/differences")["items"];
  ASSERT_GE(differences.size(), 2U);
  EXPECT_EQ(differences[0]["value"], "large") << "all of the runs that failed, and no other";
  EXPECT_EQ(differences[0]["affected"], (json{{"runs", 21}, {"of", 21}}));
  EXPECT_EQ(differences[0]["others"], (json{{"runs", 0}, {"of", 39}}));
  EXPECT_EQ(service_.cli({"verify"}).exit_code, 0);
}

TEST_F(Comparisons, OfRunsBuiltFromEvents_AndOfTheirNextRevision) {
  const auto send = [&](const json& metadata) {
    const json body = {{"runId", "chat"}, {"events", {{{"type", "run_finished"}, {"metadata", metadata}}}}};
    EXPECT_EQ(service_.post("/v1/ingest/events", key_, body.dump()).status, 201);
  };
  send({{"version", "1"}});
  EXPECT_EQ(values_of(get("/v1/dimensions"), "version")[0]["value"], "1");
  send({{"version", "2"}});
  const json values = values_of(get("/v1/dimensions"), "version");
  ASSERT_THAT(values, SizeIs(1));
  EXPECT_EQ(values[0]["value"], "2");
  EXPECT_EQ(values[0]["runs"], 1);
}

TEST_F(Comparisons, WhatIsRedacted_IsNoValue) {
  post(1, run({{"version", "built-by-zoe@example.org"}}));
  const std::string text = service_.get("/v1/dimensions", key_).body;
  EXPECT_THAT(text, Not(HasSubstr("zoe@example.org")));
  EXPECT_THAT(text, HasSubstr("[redacted:email]"));
}

TEST_F(Comparisons, OtherTenants_SeeNothingOfIt) {
  post(30, run({{"version", "1"}}, "issue_refund"));
  const std::string id = group()["clusterId"];
  const std::string other = service_.make_key("other");
  EXPECT_THAT(get_json(service_, "/v1/dimensions", other)["items"], IsEmpty());
  EXPECT_EQ(get_json(service_, "/v1/baseline?dimension=version&value=1", other)["this"]["runs"], 0);
  EXPECT_EQ(service_.get("/v1/clusters/" + id + "/differences", other).status, 404);
  EXPECT_EQ(service_.get("/v1/baseline?dimension=version&value=1&cluster=" + id, other).status, 404);
  const std::string ingest = service_.make_key("acme", "ingest");
  EXPECT_EQ(service_.get("/v1/dimensions", ingest).status, 403);
}

TEST_F(Comparisons, TheirAnswersBearATag_ThatChangesWithACommit) {
  post(1, run({{"version", "1"}}, "issue_refund"));
  const std::string id = group()["clusterId"];
  for (const std::string& path : {std::string("/v1/dimensions"), "/v1/clusters/" + id + "/differences", std::string("/v1/baseline?dimension=version&value=1")}) {
    const auto with = [&](const std::string& tag) {
      return service_.request("GET " + path + " HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer " + key_ + "\r\nIf-None-Match: " + tag + "\r\n\r\n");
    };
    HttpAnswer again;
    std::string tag;
    for (int tries = 0; tries < 3 && again.status != 304; ++tries) {  // a minute may end in between
      tag = service_.get(path, key_).header("etag");
      EXPECT_THAT(tag, HasSubstr("W/\""));
      again = with(tag);
    }
    EXPECT_EQ(again.status, 304) << path;
    EXPECT_THAT(again.body, IsEmpty());
    post(1, run({{"version", "1"}}));
    EXPECT_EQ(with(tag).status, 200) << path;
  }
}

TEST_F(Comparisons, ATagOfOneTenant_IsNoneOfAnother_ThoughBothCommittedAsOften) {
  const std::string other = service_.make_key("other", "ingest,read,manage");
  post(2, run({{"version", "1"}}));
  post(service_, other, 2, run({{"version", "2"}}));
  const HttpAnswer mine = service_.get("/v1/dimensions", key_);
  EXPECT_EQ(mine.header("cache-control"), "private, no-cache");
  EXPECT_EQ(mine.header("vary"), "Authorization, Cookie");
  const HttpAnswer theirs = service_.request("GET /v1/dimensions HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer " + other +
                                             "\r\nIf-None-Match: " + mine.header("etag") + "\r\n\r\n");
  EXPECT_EQ(theirs.status, 200);
  EXPECT_THAT(theirs.body, HasSubstr("\"value\":\"2\""));
}

TEST_F(Comparisons, SurviveARestart_ExportAndImport_AndGoWithAPurge) {
  post(5, run({{"version", "1"}, {"agent", "billing"}}, "issue_refund"));
  post(3, run({{"version", "2"}}));
  const json dimensions = get("/v1/dimensions");
  const json baseline = get("/v1/baseline?dimension=version&value=2");
  ASSERT_EQ(service_.stop(), 0);
  service_.start();
  EXPECT_EQ(get("/v1/dimensions"), dimensions);
  const CommandResult exported = service_.cli({"export", "--tenant", "acme"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.out, Not(HasSubstr("\"bytes\":{"))) << "an export names what it holds";

  ServiceProcess other{options()};
  const std::string key = other.make_key();
  ASSERT_EQ(other.stop(), 0);
  const CommandResult imported = other.cli({"import"}, exported.out);
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(other.cli({"verify"}).exit_code, 0);
  other.start();
  EXPECT_EQ(get_json(other, "/v1/dimensions", key), dimensions);
  EXPECT_EQ(get_json(other, "/v1/baseline?dimension=version&value=2", key), baseline);

  ASSERT_EQ(service_.cli({"purge", "--tenant", "acme", "--yes"}).exit_code, 0);
  EXPECT_THAT(get("/v1/dimensions")["items"], IsEmpty());
  const CommandResult verified = service_.cli({"verify"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
}

TEST_F(Comparisons, DimensionsAreConfigured) {
  ServiceProcess service{options("page: {dimensions: [team, tier]}\n")};
  const std::string key = service.make_key();
  post(service, key, 1, run({{"version", "1"}, {"team", "payments"}, {"tier", 2}, {"model", "x"}}));
  const json dimensions = get_json(service, "/v1/dimensions", key);
  ASSERT_THAT(dimensions["items"], SizeIs(2));
  EXPECT_EQ(values_of(dimensions, "team")[0]["value"], "payments");
  EXPECT_EQ(values_of(dimensions, "tier")[0]["value"], "2");

  ServiceProcess none{options("page: {dimensions: []}\n")};
  const std::string other = none.make_key();
  post(none, other, 1, run({{"version", "1"}}));
  EXPECT_THAT(get_json(none, "/v1/dimensions", other)["items"], IsEmpty());
}

TEST_F(Comparisons, GroupsBeyondTheLimit_AreLeftOut_AndTheirFailuresAreKept) {
  ServiceProcess service{options("", "{max_clusters: 2}")};
  const std::string key = service.make_key();
  for (const char* tool : {"issue_refund", "send_refund", "book_refund", "book_refund", "issue_refund"}) {
    post(service, key, 1, run({{"version", "1"}}, tool));
  }
  const json list = get_json(service, "/v1/clusters", key);
  EXPECT_THAT(list["items"], SizeIs(2));
  EXPECT_EQ(list["leftOut"], 2);
  EXPECT_EQ(list["totals"]["failures"], 5);
  EXPECT_THAT(get_json(service, "/v1/failures", key)["items"], SizeIs(5));
  EXPECT_EQ(get_json(service, "/v1/baseline?dimension=version&value=1", key)["this"]["affectedRuns"], 5);
  EXPECT_EQ(service.cli({"verify"}).exit_code, 0);
  ASSERT_EQ(service.cli({"purge", "--tenant", "acme", "--yes"}).exit_code, 0);
  EXPECT_EQ(get_json(service, "/v1/clusters", key)["leftOut"], 0);
  post(service, key, 1, run({{"version", "1"}}, "book_refund"));
  EXPECT_THAT(get_json(service, "/v1/clusters", key)["items"], SizeIs(1));
}

TEST_F(Comparisons, TheTotals_CountEachAffectedRunOnce) {
  json bad = run({}, "issue_refund");
  const json failed = bad["steps"].back();
  for (int i = 0; i < 8; ++i) bad["steps"].push_back(failed);
  post(1, bad);
  post(2, run({}));
  const json totals = get("/v1/clusters")["totals"];
  EXPECT_GT(totals["failures"], 1);
  EXPECT_EQ(totals["affectedRuns"], 1);
  EXPECT_EQ(totals["runs"], 3);
}

TEST_F(Comparisons, AGroupIsFound_WhateverTheCaseOfItsScript) {
  post(1, run({}, "ПЕРЕВОД"));
  EXPECT_THAT(get("/v1/clusters?q=%D0%BF%D0%B5%D1%80%D0%B5%D0%B2%D0%BE%D0%B4")["items"], SizeIs(1)) << "перевод";
  EXPECT_THAT(get("/v1/clusters?q=%D0%9F%D0%B5%D1%80%D0%B5%D0%B2%D0%BE%D0%B4")["items"], SizeIs(1)) << "Перевод";
  EXPECT_THAT(get("/v1/clusters?q=%D0%BF%D0%B5%D1%80%D0%B5%D0%B2%D0%BE%D0%B7")["items"], IsEmpty()) << "перевоз";
}

TEST_F(Comparisons, NotesOfTriage_AreRedacted) {
  post(1, run({}, "issue_refund"));
  const std::string id = group()["clusterId"];
  const std::string triage = "/v1/clusters/" + id + "/triage";
  EXPECT_EQ(service_.post(triage, key_, json{{"action", "ignore"}, {"note", "ask zoe@example.org"}}.dump()).status, 200);
  const std::string history = service_.get("/v1/clusters/" + id + "/history", key_).body;
  EXPECT_THAT(history, HasSubstr("ask [redacted:email]"));
  const HttpAnswer refused = service_.post(triage, key_, json{{"action", "reopen"}, {"until", {{"at", "zoe@example.org"}}}}.dump());
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.body + service_.get("/v1/clusters/" + id, key_).body, Not(HasSubstr("zoe@example.org")));
  service_.stop();
  for (const auto& file : std::filesystem::recursive_directory_iterator(service_.folder())) {
    if (!file.is_regular_file()) continue;
    EXPECT_EQ(read_file(file.path()).find("zoe@example.org"), std::string::npos) << file.path();
  }
}

TEST_F(Comparisons, TextsOfSteps_AreCutWhereItIsAskedFor) {
  json long_run = run({{"version", "1"}}, "issue_refund");
  long_run["runId"] = "long";
  long_run["userRequestText"] = "Refund order 8842 " + std::string(5000, 'u');
  long_run["steps"][0]["errorMessage"] = "502 Bad Gateway " + std::string(3000, 'e');
  long_run["steps"][0]["inputSummary"] = std::string(3000, 'i');
  post(1, long_run);
  const json whole = get("/v1/runs/long");
  ASSERT_FALSE(whole["failures"].empty());
  std::set<std::string> evidence;
  for (const json& one : whole["failures"][0]["evidence"]) evidence.insert(one["pointer"]);
  ASSERT_TRUE(evidence.contains("/steps/0/errorMessage"));
  const json cut = get("/v1/runs/long?maxText=100");
  EXPECT_THAT(cut["cut"], ElementsAre("/steps/0/inputSummary"));
  EXPECT_EQ(cut["steps"][0]["inputSummary"], std::string(100, 'i'));
  json expected = whole;
  expected["steps"][0]["inputSummary"] = std::string(100, 'i');
  expected["cut"] = {"/steps/0/inputSummary"};
  EXPECT_EQ(cut, expected) << "evidence and what is no step stay whole";
  EXPECT_THAT(get("/v1/runs/long?maxText=65536")["cut"], IsEmpty());
  EXPECT_THAT(get("/v1/runs/long?maxText=2999&revision=1")["cut"], SizeIs(1));
  const json open = {{"runId", "open"}, {"events", {{{"type", "tool_call"}, {"name", "look_up"}, {"output", std::string(300, 'o')}}}}};
  EXPECT_EQ(service_.post("/v1/ingest/events", key_, open.dump()).status, 202);
  EXPECT_THAT(get("/v1/runs/open?maxText=200")["cut"], ElementsAre("/steps/0/outputSummary"));
  for (const std::string wrong : {"maxText=99", "maxText=65537", "maxText=x", "maxText=", "maxText=200&view=head"}) {
    const HttpAnswer refused = service_.get("/v1/runs/long?" + wrong, key_);
    EXPECT_EQ(refused.status, 400) << wrong;
    EXPECT_THAT(refused.body, HasSubstr("maxText"));
  }
  EXPECT_EQ(service_.get("/v1/runs/long/explain?maxText=200", key_).status, 400);
}

TEST_F(Comparisons, AWrongQuery_NamesItsMember) {
  for (const auto& [path, member] : std::initializer_list<std::pair<std::string, std::string>>{
           {"/v1/baseline", "dimension"},
           {"/v1/baseline?dimension=version", "value"},
           {"/v1/baseline?dimension=version&value=1&window=2h", "window"},
           {"/v1/baseline?dimension=version&value=1&sort=x", "sort"},
           {"/v1/dimensions?limit=3", "limit"}}) {
    const HttpAnswer refused = service_.get(path, key_);
    EXPECT_EQ(refused.status, 400) << path;
    EXPECT_EQ(json::parse(refused.body)["code"], "bad_request");
    EXPECT_THAT(refused.body, HasSubstr(member));
  }
  EXPECT_EQ(service_.get("/v1/clusters/none/differences", key_).status, 404);
  EXPECT_EQ(service_.get("/v1/baseline?dimension=version&value=1&cluster=none", key_).status, 404);
}

}  // namespace
}  // namespace runwarden::test
