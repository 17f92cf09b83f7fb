// Bundles of stored runs over real HTTP and from the command line, and both and the store's own runs judged again beside the service.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/get_json.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

json refund(const std::string& id, const std::string& outcome = "Your refund has been processed.") {
  return {{"runId", id},
          {"userRequestText", "Please refund order 8842."},
          {"outcomeSummary", outcome},
          {"own", {{"ratio", 1.50}, {"text", "é \u0001 \" /"}}},
          {"steps",
           {{{"stepKind", "tool"},
             {"stepName", "issue_refund"},
             {"inputSummary", R"({"order_id": "A-8842"})"},
             {"status", "failed"},
             {"errorMessage", "502 Bad Gateway"}}}}};
}

class Bundles : public testing::Test {
 protected:
  explicit Bundles(const std::string& yaml = {})
      : service_({.yaml = yaml, .server = {}, .limits = "{}", .store = {}, .binary = {}, .environment = {}}),
        key_(service_.make_key("acme", "ingest,read")) {}

  void post(int status, const std::string& path, const json& body) {
    const HttpAnswer answer = service_.post(path, key_, body.dump());
    ASSERT_EQ(answer.status, status) << answer.body;
  }
  json get(const std::string& path) { return get_json(service_, path, key_); }
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = (service_.folder() / name).string();
    std::ofstream(path) << text;
    return path;
  }
  CommandResult run(const std::vector<std::string>& args) { return service_.cli(args); }
  json replayed(std::vector<std::string> args) {
    args.insert(args.begin(), "replay");
    args.insert(args.end(), {"--format", "json"});
    const CommandResult result = run(args);
    const json answer = json::parse(result.out, nullptr, false);
    EXPECT_TRUE(answer.is_object()) << result.out << result.err;
    return answer;
  }
  // A configuration whose false_success reads Spanish alone.
  std::string candidate() {
    return file("candidate.yaml",
                "detectors:\n  search_path: [" + plugin_folder() +
                    "]\n  enabled: [{key: false_success, settings: {languages: [es]}}, {key: expensive_loop}, {key: schema_ghost}, "
                    "{key: missing_tool_call}, {key: context_overflow}]\n");
  }

  ServiceProcess service_;
  std::string key_;
};

TEST_F(Bundles, HoldAllThatJudgingAgainTakes) {
  post(201, "/v1/ingest/changes", {{"kind", "code"}, {"at", "2026-01-01T00:00:00Z"}, {"summary", "gateway"}});
  post(201, "/v1/ingest/changes", {{"kind", "code"}, {"at", "2120-01-01T00:00:00Z"}, {"summary", "later"}});
  post(201, "/v1/ingest/policies", {{"policy", "refunds"}, {"content", {{"max", 50}}}, {"at", "2026-01-02T00:00:00Z"}});
  post(201, "/v1/ingest/policies", {{"policy", "refunds"}, {"content", {{"max", 90}}}, {"at", "2120-01-02T00:00:00Z"}});
  post(201, "/v1/ingest/runs", refund("r1"));
  const json bundle = get("/v1/runs/r1/bundle");
  const json run = get("/v1/runs/r1");
  EXPECT_EQ(bundle["format"], "runwarden-bundle/1");
  EXPECT_EQ(bundle["tenant"], "acme");
  EXPECT_EQ(bundle["run"], run);
  EXPECT_EQ(bundle["failures"], run["failures"]);
  EXPECT_EQ(bundle["detectors"], run["detectors"]);
  EXPECT_EQ(bundle["ledger"]["kind"], "run");
  EXPECT_EQ(bundle["documentSha256"].get<std::string>().size(), 64u);
  ASSERT_EQ(bundle["libraries"].size(), 5u);
  const json detectors = get("/v1/detectors")["items"];
  for (std::size_t i = 0; i < detectors.size(); ++i) {
    EXPECT_EQ(bundle["libraries"][i], (json{{"key", detectors[i]["key"]},
                                            {"detectorVersion", detectors[i]["version"]},
                                            {"librarySha256", detectors[i]["sha256"]},
                                            {"settingsHash", detectors[i]["provenance"]["settingsHash"]},
                                            {"settings", detectors[i]["settings"]}}));
  }
  ASSERT_EQ(bundle["policies"].size(), 1u);
  EXPECT_EQ(bundle["policies"][0]["content"], (json{{"max", 50}}));
  ASSERT_EQ(bundle["changes"].size(), 2u) << "the policy revision is one";
  EXPECT_EQ(bundle["changes"][0]["kind"], "policy");
  EXPECT_EQ(bundle["changes"][1]["summary"], "gateway");
  EXPECT_EQ(bundle.size(), 12u);
}

TEST_F(Bundles, AreOfTheOwnTenantOfResolvedRunsAndOfOneRevision) {
  post(201, "/v1/ingest/runs", refund("r1"));
  EXPECT_EQ(service_.get("/v1/runs/r1/bundle", service_.make_key("globex")).status, 404);
  EXPECT_EQ(service_.get("/v1/runs/r1/bundle", service_.make_key("acme", "ingest")).status, 403);
  EXPECT_EQ(service_.get("/v1/runs/r2/bundle", key_).status, 404);
  EXPECT_EQ(service_.get("/v1/runs/r1/bundle?revision=2", key_).status, 404);
  EXPECT_EQ(service_.get("/v1/runs/r1/bundle?view=head", key_).status, 400);
  post(202, "/v1/ingest/events", {{"runId", "r1"}, {"events", {{{"type", "model_output"}, {"text", "Sorry, the refund failed."}}}}});
  const HttpAnswer open = service_.get("/v1/runs/r1/bundle", key_);
  EXPECT_EQ(open.status, 409);
  EXPECT_EQ(json::parse(open.body)["code"], "conflict");
  EXPECT_EQ(get("/v1/runs/r1/bundle?revision=1")["run"], get("/v1/runs/r1?revision=1"));
  const CommandResult command = run({"bundle", "r1", "--tenant", "acme"});
  EXPECT_EQ(command.exit_code, 1);
  EXPECT_NE(command.err.find("the run \"r1\" is still open"), std::string::npos) << command.err;
  EXPECT_EQ(run({"bundle", "r1", "--tenant", "acme", "--revision", "1"}).exit_code, 0);
  post(201, "/v1/ingest/events", {{"runId", "r1"}, {"events", json::array()}, {"final", true}});
  EXPECT_EQ(get("/v1/runs/r1/bundle")["run"]["revision"], 2);
  EXPECT_NE(run({"bundle", "r1", "--tenant", "acme", "--revision", "3"}).err.find("has no revision 3 of the run \"r1\""),
            std::string::npos);
  EXPECT_NE(run({"bundle", "r1", "--tenant", "initech"}).err.find("no tenant \"initech\""), std::string::npos);
}

TEST_F(Bundles, HoldWhatWasSaidOfTheRunSince) {
  post(201, "/v1/ingest/runs", refund("r1"));
  const std::string failure = get("/v1/runs/r1")["failures"][0]["failureId"];
  const auto review = [&](const std::string& path, const json& body) {
    const HttpAnswer answer = service_.post(path, service_.make_key("acme", "manage"), body.dump());
    ASSERT_EQ(answer.status, 200) << answer.body;
  };
  review("/v1/failures/" + failure + "/review", {{"verdict", "right"}});
  review("/v1/runs/r1/review", {{"detector", "schema_ghost"}, {"verdict", "clean"}});
  const json run = get("/v1/runs/r1");
  ASSERT_TRUE(run["failures"][0].contains("review"));
  for (const std::string& text : {service_.get("/v1/runs/r1/bundle", key_).body, this->run({"bundle", "r1", "--tenant", "acme"}).out}) {
    const json bundle = json::parse(text);
    EXPECT_EQ(bundle["run"], run);
    EXPECT_EQ(bundle["failures"], run["failures"]);
    EXPECT_EQ(bundle["detectors"], run["detectors"]);
    EXPECT_EQ(replayed({file("r1.json", text)})["same"], 1);
  }
}

TEST_F(Bundles, FromTheCommandLine_AreTheSame) {
  post(201, "/v1/ingest/runs", refund("r1"));
  const std::string path = (service_.folder() / "r1.json").string();
  const CommandResult result = run({"bundle", "r1", "--tenant", "acme", "--output", path});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  std::ifstream in(path);
  json here = json::parse(in);
  json there = get("/v1/runs/r1/bundle");
  here.erase("createdAt");
  there.erase("createdAt");
  EXPECT_EQ(here, there);
}

TEST_F(Bundles, JudgedAgain_DifferOnlyWhereTheSettingsDo) {
  post(201, "/v1/ingest/runs", refund("r1"));
  post(201, "/v1/ingest/runs", refund("r2", "Sorry, the refund failed."));
  const std::string r1 = file("r1.json", service_.get("/v1/runs/r1/bundle", key_).body);
  const std::string r2 = file("r2.json", service_.get("/v1/runs/r2/bundle", key_).body);
  // Written anew by another program, it is still the same run.
  const std::string pretty = file("pretty.json", nlohmann::ordered_json::parse(service_.get("/v1/runs/r1/bundle", key_).body).dump(2));
  const json same = replayed({r1, r2, pretty});
  EXPECT_EQ(same["runs"], 3) << same;
  EXPECT_EQ(same["same"], 3) << same;
  const json differences = replayed({r1, r2, "--candidate", candidate()});
  EXPECT_EQ(differences["lost"], 1);
  EXPECT_EQ(differences["same"], 1);
  EXPECT_EQ(differences["differences"][0]["runId"], "r1");
  EXPECT_EQ(differences["differences"][0]["because"], json({"settings"}));
  EXPECT_EQ(run({"replay", r1, "--candidate", candidate()}).exit_code, 1);
}

// More runs than a page of the store's list has, one of them streamed, one still open.
TEST_F(Bundles, OfStoredRuns_AllAreJudgedAgainBesideTheService) {
  for (int i = 0; i < 120; ++i) {
    post(201, "/v1/ingest/runs",
         refund("r" + std::to_string(i), i % 2 == 0 ? "Your refund has been processed." : "Sorry, the refund failed."));
  }
  const json call = {{"type", "tool_call"}, {"name", "issue_refund"}, {"status", "failed"}, {"error", "502 Bad Gateway"}};
  const json said = {{"type", "model_output"}, {"text", "Your refund has been processed."}};
  post(201, "/v1/ingest/events",
       {{"runId", "s"}, {"events", {{{"type", "user_request"}, {"text", "Refund order 8842."}}, call, said}}, {"final", true}});
  post(202, "/v1/ingest/events", {{"runId", "open"}, {"events", {call}}});
  ASSERT_EQ(get("/v1/runs/s")["failures"].size(), 1u);
  const json same = replayed({"--tenant", "acme", "--threads", "2"});
  EXPECT_EQ(same["runs"], 121) << "not the open one: " << same;
  EXPECT_EQ(same["same"], 121) << same;
  const json lost = replayed({"--tenant", "acme", "--candidate", candidate()});
  EXPECT_EQ(lost["lost"], 61);
  EXPECT_EQ(lost["new"], 0);
  EXPECT_EQ(lost["same"], 60);
  for (const json& one : lost["differences"]) EXPECT_EQ(one["because"], json({"settings"}));
  EXPECT_EQ(replayed({"--tenant", "acme", "--limit", "7"})["runs"], 7);
  EXPECT_EQ(replayed({"--tenant", "acme", "--until", "2020-01-01T00:00:00Z"})["runs"], 0);
  EXPECT_EQ(replayed({"--tenant", "acme", "--since", "1d"})["runs"], 121);
  EXPECT_EQ(run({"replay", "--tenant", "initech"}).exit_code, 1);
  EXPECT_EQ(get("/v1/failures?limit=1000")["items"].size(), 61u) << "nothing is stored";
}

class RedactedBundles : public Bundles {
 protected:
  RedactedBundles() : Bundles("redact: {rules: [{key: order_id}]}\n") {}
};

// Five charges of five orders are one call five times once the orders are taken out.
TEST_F(RedactedBundles, JudgedAgain_SayThatTheDetectorsSawMore) {
  json run = refund("r1", "Sorry, all failed.");
  run["steps"] = json::array();
  for (int i = 0; i < 5; ++i) {
    run["steps"].push_back({{"stepKind", "tool"},
                            {"stepName", "issue_refund"},
                            {"inputSummary", {{"order_id", "A-88" + std::to_string(i) + "2"}}},
                            {"status", "failed"},
                            {"errorMessage", "502 Bad Gateway"}});
  }
  post(201, "/v1/ingest/runs", run);
  post(201, "/v1/ingest/runs", {{"runId", "r2"}});
  const json bundle = get("/v1/runs/r1/bundle");
  ASSERT_NE(bundle.dump().find("[redacted:order_id]"), std::string::npos) << bundle;
  const json answer = replayed({"--tenant", "acme"});
  EXPECT_EQ(answer["runs"], 2);
  EXPECT_EQ(answer["redacted"], 1);
  ASSERT_EQ(answer["new"], 1) << answer;
  EXPECT_EQ(answer["differences"][0]["detectorKey"], "expensive_loop");
  EXPECT_EQ(answer["differences"][0]["because"], json({"redaction"}));
}

class BundlesOfRedactedText : public Bundles {
 protected:
  BundlesOfRedactedText() : Bundles("redact: {detectors_see: after, rules: [{key: id}]}\n") {}
};

// The id is taken out of what the detector said, too, though it stands in the run elsewhere.
TEST_F(BundlesOfRedactedText, JudgedAgain_DoNotDiffer) {
  post(201, "/v1/ingest/runs",
       {{"runId", "r1"},
        {"userRequestText", "Cancel parcel PX-771"},
        {"outcomeSummary", "Your parcel PX-771 has been cancelled and you won't be charged."},
        {"steps",
         {{{"stepKind", "tool"},
           {"stepName", "cancel_parcel"},
           {"status", "completed"},
           {"inputSummary", R"({"id": "PX-771"})"},
           {"outputSummary", "Error: parcel PX-771 already handed to the carrier"}}}}});
  const json run = get("/v1/runs/r1");
  ASSERT_NE(run["failures"][0]["fingerprint"].get<std::string>().find("[redacted:id]"), std::string::npos) << run;
  ASSERT_NE(run["outcomeSummary"].get<std::string>().find("PX-771"), std::string::npos);
  const json answer = replayed({"--tenant", "acme"});
  EXPECT_EQ(answer["same"], 1) << answer;
  EXPECT_EQ(answer["redacted"], 0);
}

}  // namespace
}  // namespace runwarden::test
