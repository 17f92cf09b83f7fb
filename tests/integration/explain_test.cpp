// How the detectors come to their answers about a stored run, over real HTTP.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/files.h"
#include "support/get_json.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

json failing_refund(const std::string& id) {
  return {{"runId", id},
          {"userRequestText", "Please refund order 8842."},
          {"success", true},
          {"outcomeSummary", "Your refund has been processed."},
          {"steps",
           {{{"stepKind", "tool"},
             {"stepName", "issue_refund"},
             {"inputSummary", R"({"order_id": "A-8842"})"},
             {"status", "failed"},
             {"errorMessage", "502 Bad Gateway"}}}}};
}

class Explain : public testing::Test {
 protected:
  explicit Explain(const std::string& yaml = {})
      : service_({.yaml = yaml, .server = {}, .limits = "{}", .store = {}, .binary = {}, .environment = {}}), key_(service_.make_key()) {}

  void post(int status, const std::string& path, const json& body) {
    const HttpAnswer answer = service_.post(path, key_, body.dump());
    ASSERT_EQ(answer.status, status) << answer.body;
  }
  json get(const std::string& path) { return get_json(service_, path, key_); }
  // What one detector's rules answered.
  static json rules_of(const json& explained, const std::string& key) {
    for (const json& detector : explained["explanation"]["detectors"]) {
      if (detector["key"] == key) return detector["rules"];
    }
    return nullptr;
  }

  ServiceProcess service_;
  std::string key_;
};

TEST_F(Explain, AStoredRun_ShowsWhatTheDetectorsUnderstood) {
  post(201, "/v1/ingest/runs", failing_refund("r1"));
  const json explained = get("/v1/runs/r1/explain");
  EXPECT_EQ(explained["runId"], "r1");
  EXPECT_EQ(explained["state"], "resolved");
  EXPECT_EQ(explained["resolution"], "whole");
  EXPECT_EQ(explained["revision"], 1);
  ASSERT_EQ(explained["failures"].size(), 1u);
  EXPECT_EQ(explained["failures"][0]["suspicionScore"], 95);
  EXPECT_FALSE(explained["failures"][0].contains("failureId")) << "nothing is stored";
  EXPECT_EQ(explained["detectors"].size(), 5u);
  const json& explanation = explained["explanation"];
  EXPECT_EQ(explanation["stepCount"], 1);
  EXPECT_EQ(explanation["userRequestText"], "Please refund order 8842.");
  const json& action = explanation["actions"].at(0);
  EXPECT_EQ(action["stepId"], "step_1");
  EXPECT_EQ(action["call"], "issue_refund(order_id=A-8842)");
  EXPECT_EQ(action["outcome"], "failed");
  EXPECT_EQ(action["reason"], "\"502 Bad Gateway\"");
  const json& statement = explanation["statements"].at(0);
  EXPECT_EQ(statement["text"], "Your refund has been processed.");
  EXPECT_EQ(statement["pointer"], "/outcomeSummary");
  EXPECT_EQ(statement["act"], "claim");
  const json rules = rules_of(explained, "false_success");
  ASSERT_FALSE(rules.empty());
  EXPECT_EQ(rules.back()["answer"], "fires");
}

TEST_F(Explain, NothingIsStored_AndTheAnswerStaysTheSame) {
  post(201, "/v1/ingest/runs", failing_refund("r1"));
  const json stored = get("/v1/failures");
  const std::string first = service_.get("/v1/runs/r1/explain", key_).body;
  EXPECT_EQ(service_.get("/v1/runs/r1/explain", key_).body, first);
  EXPECT_EQ(get("/v1/failures"), stored);
}

TEST_F(Explain, IsOfTheOwnTenantOnly) {
  post(201, "/v1/ingest/runs", failing_refund("r1"));
  const HttpAnswer foreign = service_.get("/v1/runs/r1/explain", service_.make_key("globex"));
  const HttpAnswer unknown = service_.get("/v1/runs/r2/explain", key_);
  EXPECT_EQ(foreign.status, 404);
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(json::parse(foreign.body)["code"], json::parse(unknown.body)["code"]);
  EXPECT_EQ(service_.get("/v1/runs/r1/explain", service_.make_key("acme", "ingest")).status, 403);
  EXPECT_EQ(service_.get("/v1/runs/r1/explain?revision=2", key_).status, 404);
  EXPECT_EQ(service_.get("/v1/runs/r1/explain?view=head", key_).status, 400);
}

TEST_F(Explain, AnOpenRun_IsJudgedWithTheStepsSoFar) {
  const json call = {{"type", "tool_call"}, {"name", "issue_refund"}, {"status", "failed"}, {"error", "502 Bad Gateway"}};
  post(202, "/v1/ingest/events", {{"runId", "s"}, {"events", {call}}});
  const json open = get("/v1/runs/s/explain");
  EXPECT_EQ(open["state"], "open");
  EXPECT_FALSE(open.contains("resolution"));
  EXPECT_EQ(open["explanation"]["stepCount"], 1);
  EXPECT_TRUE(open["failures"].empty());
  post(202, "/v1/ingest/events", {{"runId", "s"}, {"events", {{{"type", "model_output"}, {"text", "Your refund has been processed."}}}}});
  const json further = get("/v1/runs/s/explain");
  EXPECT_EQ(further["explanation"]["stepCount"], 2);
  EXPECT_EQ(further["failures"].size(), 1u);
  EXPECT_EQ(get("/v1/runs/s")["state"], "open") << "it goes on as it was";
  EXPECT_TRUE(get("/v1/failures")["items"].empty());
}

TEST_F(Explain, AFormerRevision_IsExplainedAsItWas) {
  post(201, "/v1/ingest/runs", failing_refund("r1"));
  post(201, "/v1/ingest/events", {{"runId", "r1"}, {"events", {{{"type", "note"}}}}, {"final", true}});
  EXPECT_EQ(get("/v1/runs/r1/explain")["revision"], 2);
  EXPECT_EQ(get("/v1/runs/r1/explain")["explanation"]["stepCount"], 2);
  EXPECT_EQ(get("/v1/runs/r1/explain?revision=1")["explanation"]["stepCount"], 1);
}

// Rules that came after the run: what they name stands in the store, and in no explanation.
struct ExplainRedacted : Explain {
  ExplainRedacted() : Explain("redact: {rules: []}\n") {}
};

TEST_F(ExplainRedacted, WhatTheRulesOfTodayName_IsInNoExplanation) {
  json run = failing_refund("r1");
  run["userRequestText"] = "Refund zoe.quill@example.org";
  run["outcomeSummary"] = "Your refund has been processed, zoe.quill@example.org.";
  run["steps"][0]["inputSummary"] = R"({"email": "zoe.quill@example.org"})";
  run["steps"][0]["errorMessage"] = "502 for zoe.quill@example.org";
  post(201, "/v1/ingest/runs", run);
  EXPECT_NE(get("/v1/runs/r1/explain").dump().find("zoe.quill"), std::string::npos) << "what is searched is searchable";
  std::string config = read_file(service_.config_path());
  const std::string before = "rules: []";
  config.replace(config.find(before), before.size(), "rules: [{kind: email}]");
  std::ofstream(service_.config_path()) << config;
  service_.signal(SIGHUP);
  ASSERT_TRUE(service_.wait_for_log("\"reloaded\"")) << service_.log_text();
  const std::string explained = service_.get("/v1/runs/r1/explain", key_).body;
  EXPECT_EQ(explained.find("zoe.quill"), std::string::npos) << explained;
  EXPECT_NE(explained.find("[redacted:email]"), std::string::npos) << explained;
}

}  // namespace
}  // namespace runwarden::test
