#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

const char* const kRefundRun = R"({"userRequestText":"Refund order 8842","success":true,"outcomeSummary":"Your refund has been processed.",
  "metadata":{"model":"gpt-4o","costUsd":0.02,"inputTokens":1200},
  "steps":[{"stepKind":"tool","stepName":"issue_refund","status":"failed","errorMessage":"502 Bad Gateway"}]})";

class Ingest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    service_ = new ServiceProcess;
    key_ = service_->make_key("acme");
    other_key_ = service_->make_key("globex");
  }
  static void TearDownTestSuite() { delete service_; }

  HttpAnswer post_run(const std::string& body, const std::string& fields = {}) {
    return service_->post("/v1/ingest/runs", key_, body, fields);
  }
  json posted(const std::string& body) {
    const HttpAnswer answer = post_run(body);
    EXPECT_EQ(answer.status, 201) << answer.body;
    return json::parse(answer.body);
  }

  static inline ServiceProcess* service_ = nullptr;
  static inline std::string key_;
  static inline std::string other_key_;
};

TEST_F(Ingest, TheRefundRun_IsAFalseSuccess) {
  const HttpAnswer answer = post_run(kRefundRun);
  ASSERT_EQ(answer.status, 201) << answer.body;
  const json body = json::parse(answer.body);
  EXPECT_EQ(answer.header("location"), "/v1/runs/" + body["runId"].get<std::string>());
  EXPECT_EQ(body["state"], "resolved");
  EXPECT_EQ(body["policies"], json::array());
  ASSERT_EQ(body["failures"].size(), 1u) << body.dump(1);
  const json& failure = body["failures"][0];
  EXPECT_EQ(failure["detectorKey"], "false_success");
  EXPECT_EQ(failure["suspicionScore"], 95);
  EXPECT_EQ(failure["severity"], "high");
  EXPECT_EQ(failure["initialFailureSource"], "tool");
  EXPECT_EQ(failure["primaryStepId"], "step_1");
  EXPECT_EQ(failure["runId"], body["runId"]);
  EXPECT_EQ(failure["revision"], 1);
  EXPECT_FALSE(failure.contains("confidence"));
  EXPECT_EQ(failure["title"], "False success: agent claimed completion after issue_refund failed");
  EXPECT_EQ(failure["summary"],
            "Step \"issue_refund\" reported \"502 Bad Gateway\", but the agent's final message claimed success (\"Your refund has been "
            "processed.\"). "
            "The user was told the action completed when it did not.");
  ASSERT_EQ(body["detectors"].size(), 5u);
  for (const json& detector : body["detectors"]) {
    EXPECT_EQ(detector["status"], detector["key"] == "false_success" ? "fired" : "clean") << detector.dump();
  }
}

TEST_F(Ingest, ACandidate_TellsItsConfidence_AndASilencedAlarmTellsNone) {
  const json body = posted(R"({"runId":"lamp","userRequestText":"Exchange my lamp",
    "outcomeSummary":"Your order W77 has been cancelled successfully. Expect the money in 5 to 7 business days.","steps":[
    {"stepKind":"tool","stepName":"exchange_items","inputSummary":{"order":"W77","item":"90017"},"status":"failed","errorMessage":"order is not delivered yet"},
    {"stepKind":"model","outputSummary":"Only delivered orders can be exchanged. Shall we cancel it instead?"},
    {"stepKind":"user","outputSummary":"Yes, cancel it."},
    {"stepKind":"tool","stepName":"cancel_order","inputSummary":{"order":"W77"},"outputSummary":{"order":"W77","status":"cancelled"},"status":"completed"}]})");
  EXPECT_TRUE(body["failures"].empty()) << body.dump(1);
  const auto suppressed = [](const json& run) {
    for (const json& one : run["detectors"]) {
      if (one["key"] == "false_success") return one.value("suppressed", json::array());
    }
    return json();
  };
  ASSERT_EQ(suppressed(body).size(), 1u) << body.dump(1);
  const json candidate = {{"rule", "unrelated_claim"},
                          {"stepId", "step_1"},
                          {"reason",
                           "other calls did what the final message claims (candidate: confidence 0.45, sensitivity balanced fires "
                           "from 0.60)"},
                          {"confidence", 0.45}};
  EXPECT_EQ(suppressed(body)[0], candidate);
  EXPECT_EQ(suppressed(json::parse(service_->get("/v1/runs/lamp", key_).body))[0], candidate) << "it is kept";
  const json silenced = posted(R"({"success":true,"outcomeSummary":"I was unable to refund your order.",
    "steps":[{"stepKind":"tool","stepName":"issue_refund","status":"failed","errorMessage":"502"}]})");
  ASSERT_FALSE(suppressed(silenced).empty()) << silenced.dump(1);
  for (const json& one : suppressed(silenced)) EXPECT_FALSE(one.contains("confidence")) << one.dump();
}

TEST_F(Ingest, MisspeltMembers_ComeBackAsWarnings_AlsoWhenSentAgain) {
  const std::string slip = R"({"runId":"slip","user_request":"Refund order 8842","steps":[{"step_name":"a"},{"step_name":"b"}]})";
  const HttpAnswer first = post_run(slip);
  ASSERT_EQ(first.status, 201) << first.body;
  const json warnings = json::parse(first.body)["warnings"];
  ASSERT_EQ(warnings.size(), 2u) << warnings;
  EXPECT_EQ(warnings[0]["pointer"], "/steps/0/step_name");
  EXPECT_EQ(warnings[1]["pointer"], "/user_request");
  EXPECT_NE(warnings[1]["detail"].get<std::string>().find("\"userRequestText\""), std::string::npos) << warnings;
  EXPECT_EQ(post_run(slip).body, first.body) << "a retry is answered as the first time";
  service_->kill_hard();
  service_->start();
  EXPECT_EQ(post_run(slip).body, first.body);
  const json run = json::parse(service_->get("/v1/runs/slip", key_).body);
  EXPECT_EQ(run["user_request"], "Refund order 8842") << "it is kept all the same";
  EXPECT_FALSE(run.contains("warnings"));
  EXPECT_FALSE(posted(R"({"runId":"no-slip","agent":"a","x":{"user_request":1}})").contains("warnings"));
  const json analysis = json::parse(service_->post("/v1/analyze", key_, slip).body);
  EXPECT_EQ(analysis["warnings"], warnings);
}

TEST_F(Ingest, ChangesAndPolicies_WarnOfMisspeltMembersToo) {
  const auto warned = [](const std::string& what, const std::string& body) {
    const HttpAnswer answer = service_->post("/v1/ingest/" + what, key_, body);
    EXPECT_TRUE(answer.status == 201 || answer.status == 200) << answer.body;
    return json::parse(answer.body).value("warnings", json());
  };
  EXPECT_EQ(warned("changes", R"({"kind":"code","sumary":"s"})")[0]["pointer"], "/sumary");
  EXPECT_EQ(warned("changes", R"({"kind":"code","summary":"s","team":"t"})"), json());
  EXPECT_EQ(warned("changes", R"({"kind":"code","sumary":"s","warnings":"mine"})"), "mine") << "the record's own member stands";
  const std::string policy = R"({"policy":"p","revision":"1","contnet":1})";
  EXPECT_EQ(warned("policies", policy)[0]["pointer"], "/contnet");
  EXPECT_EQ(warned("policies", policy)[0]["pointer"], "/contnet");
}

TEST_F(Ingest, EachDetectorsPublishedExample_IsFound) {
  const json loop = posted(R"({"metadata":{"costUsd":0.90},"steps":[{"stepKind":"tool","stepName":"search_orders","inputSummary":"q"},
    {"stepKind":"tool","stepName":"search_orders","inputSummary":"q"},{"stepKind":"tool","stepName":"search_orders","inputSummary":"q","retryCount":3,"status":"failed"}]})");
  ASSERT_GE(loop["failures"].size(), 1u) << loop.dump(1);
  EXPECT_EQ(loop["failures"][0]["title"], "Runaway loop: \"search_orders\" repeated 3× with no progress");
  EXPECT_EQ(loop["failures"][0]["suspicionScore"], 79);
  EXPECT_EQ(loop["failures"][0]["severity"], "medium");
  EXPECT_EQ(loop["failures"][0]["estimatedWasteUsd"], 0.6);

  const json ghost = posted(
      R"({"userRequestText":"Where is my parcel?","steps":[{"stepKind":"tool","stepName":"get_order","status":"completed","outputSummary":"null"},
    {"stepKind":"model","outputSummary":"Order #8842 shipped on 2026-06-28 via UPS, tracking 1Z999AA10123456784."}]})");
  ASSERT_EQ(ghost["failures"].size(), 1u) << ghost.dump(1);
  EXPECT_EQ(ghost["failures"][0]["title"], "Schema ghost: model fabricated data after \"get_order\" returned nothing");
  EXPECT_EQ(ghost["failures"][0]["suspicionScore"], 82);

  const json missing = posted(
      R"({"userRequestText":"Please cancel my subscription","success":true,"outcomeSummary":"Done — your subscription has been cancelled.",
    "steps":[{"stepKind":"model","outputSummary":"Done — your subscription has been cancelled."}]})");
  ASSERT_EQ(missing["failures"].size(), 1u) << missing.dump(1);
  EXPECT_EQ(missing["failures"][0]["title"], "Missing action: agent claimed to \"cancel\" but called no tool");
  EXPECT_EQ(missing["failures"][0]["suspicionScore"], 80);

  const json overflow =
      posted(R"({"steps":[{"stepKind":"model","metadata":{"model":"gpt-4o","inputTokens":175000},"outputSummary":"ok"}]})");
  ASSERT_EQ(overflow["failures"].size(), 1u) << overflow.dump(1);
  EXPECT_EQ(overflow["failures"][0]["title"], "Context overflow: 175000 input tokens exceed gpt-4o's 128000-token window");
  EXPECT_EQ(overflow["failures"][0]["suspicionScore"], 76);
}

TEST_F(Ingest, AnEmptyRun_IsTakenAndNothingIsCalledClean) {
  const json body = posted("{}");
  EXPECT_EQ(body["failures"], json::array());
  for (const json& detector : body["detectors"]) {
    EXPECT_EQ(detector["status"], "not_evaluable") << detector.dump();
    EXPECT_NE(detector.value("reason", ""), "") << detector.dump();
  }
}

TEST_F(Ingest, ARun_CanBeReadBackWithItsUnknownMembers) {
  const std::string id = "odd / id?#%é";
  const HttpAnswer stored =
      post_run(json{{"runId", id}, {"extra", {{"deep", {1, nullptr}}}}, {"steps", {{{"stepName", "a"}, {"mine", true}}}}}.dump());
  ASSERT_EQ(stored.status, 201) << stored.body;
  const HttpAnswer read = service_->get(stored.header("location"), key_);
  ASSERT_EQ(read.status, 200) << read.body;
  const json run = json::parse(read.body);
  EXPECT_EQ(run["runId"], id);
  EXPECT_EQ(run["state"], "resolved");
  EXPECT_EQ(run["revision"], 1);
  EXPECT_EQ(run["extra"], (json{{"deep", {1, nullptr}}}));
  EXPECT_EQ(run["steps"][0]["mine"], true);
  EXPECT_EQ(run["steps"][0]["stepId"], "step_1");
  EXPECT_TRUE(run["failures"].is_array());
  EXPECT_EQ(run["detectors"].size(), 5u);
  const HttpAnswer again = post_run(read.body);
  EXPECT_EQ(again.status, 409) << "what was read is other content under the same runId";
}

TEST_F(Ingest, AnotherTenantsRun_IsNotThere) {
  ASSERT_EQ(post_run(R"({"runId":"private"})").status, 201);
  EXPECT_EQ(service_->get("/v1/runs/private", key_).status, 200);
  const HttpAnswer foreign = service_->get("/v1/runs/private", other_key_);
  const HttpAnswer nowhere = service_->get("/v1/runs/privatf", other_key_);
  EXPECT_EQ(foreign.status, 404);
  EXPECT_EQ(nowhere.status, 404);
  EXPECT_EQ(json::parse(foreign.body)["code"], "not_found");
  EXPECT_EQ(service_->post("/v1/ingest/runs", other_key_, R"({"runId":"private","x":1})").status, 201) << "two tenants may use one runId";
}

TEST_F(Ingest, TheSameRunIdAgain_IsReplayedOrInConflict) {
  const std::string body = R"({"runId":"twice","outcomeSummary":"x"})";
  const HttpAnswer first = post_run(body);
  const HttpAnswer same = post_run(body);
  const HttpAnswer other = post_run(R"({"runId":"twice","outcomeSummary":"y"})");
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(same.status, 200);
  EXPECT_EQ(same.body, first.body);
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(json::parse(other.body)["code"], "conflict");
}

TEST_F(Ingest, AnIdempotencyKey_GivesTheFirstAnswerAgain) {
  const std::string field = "Idempotency-Key: order-1\r\n";
  const HttpAnswer first = post_run(kRefundRun, field);
  const HttpAnswer same = post_run(kRefundRun, field);
  const HttpAnswer other = post_run("{}", field);
  ASSERT_EQ(first.status, 201);
  EXPECT_EQ(same.status, 200);
  EXPECT_EQ(same.body, first.body);
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(service_->post("/v1/ingest/runs", other_key_, "{}", field).status, 201) << "keys are per tenant";
  for (const std::string& bad : {std::string("Idempotency-Key:\r\n"), std::string("Idempotency-Key: a b\r\n"),
                                 "Idempotency-Key: " + std::string(256, 'k') + "\r\n", field + field}) {
    EXPECT_EQ(post_run("{}", bad).status, 400) << bad;
  }
}

TEST_F(Ingest, AnIdempotencyKeyOfARunThatIsKnownByItsRunId_IsRemembered) {
  const std::string body = R"({"runId":"known-by-id"})";
  const std::string field = "Idempotency-Key: known-by-id\r\n";
  const HttpAnswer first = post_run(body);
  ASSERT_EQ(first.status, 201);
  for (int i = 0; i < 2; ++i) {
    const HttpAnswer again = post_run(body, field);
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.body, first.body);
  }
  EXPECT_EQ(post_run(R"({"runId":"another"})", field).status, 409);
  EXPECT_EQ(service_->get("/v1/runs/another", key_).status, 404);
}

TEST_F(Ingest, ManyAtOnceUnderOneKey_AreOneRun) {
  std::vector<HttpClient> clients;
  const std::string request =
      post_request("/v1/ingest/runs", kRefundRun, "Authorization: Bearer " + key_ + "\r\nIdempotency-Key: at-once\r\n");
  for (int i = 0; i < 20; ++i) clients.push_back(HttpClient::to(service_->port()));
  for (HttpClient& client : clients) ASSERT_TRUE(client.send(request));
  int created = 0;
  std::string body;
  for (HttpClient& client : clients) {
    const auto answer = client.answer();
    ASSERT_TRUE(answer);
    created += answer->status == 201;
    EXPECT_TRUE(answer->status == 201 || answer->status == 200) << answer->body;
    if (body.empty()) body = answer->body;
    EXPECT_EQ(answer->body, body);
  }
  EXPECT_EQ(created, 1);
}

TEST_F(Ingest, NumbersBeyondADoublesDigits_AreKeptExactlyOrRefused) {
  const HttpAnswer run = post_run(R"({"runId":"digits","steps":[{"errorCode":9007199254740993},{"errorCode":1.25e1}]})");
  ASSERT_EQ(run.status, 201);
  const json steps = json::parse(service_->get("/v1/runs/digits", key_).body)["steps"];
  EXPECT_EQ(steps[0]["errorCode"], "9007199254740993");
  EXPECT_EQ(steps[1]["errorCode"], "12.5");
  const HttpAnswer policy = service_->post("/v1/ingest/policies", key_, R"({"policy":"digits","revision":9007199254740993})");
  EXPECT_EQ(json::parse(policy.body)["revision"], "9007199254740993");
  EXPECT_EQ(post_run(R"({"metadata":{"inputTokens":9007199254740992}})").status, 201);
  EXPECT_EQ(post_run(R"({"metadata":{"inputTokens":9007199254740993}})").status, 422);
}

TEST_F(Ingest, EveryFaultOfAShape_IsTold) {
  const HttpAnswer answer = post_run(R"({"success":"yes","steps":[{"retryCount":1.5},{"startedAt":"soon"}]})");
  ASSERT_EQ(answer.status, 422);
  EXPECT_EQ(answer.header("content-type"), "application/problem+json");
  const json problem = json::parse(answer.body);
  EXPECT_EQ(problem["code"], "validation_failed");
  EXPECT_EQ(problem["status"], 422);
  EXPECT_EQ(problem["requestId"], answer.header("x-request-id"));
  std::vector<std::string> pointers;
  for (const json& fault : problem["errors"]) pointers.push_back(fault["pointer"]);
  EXPECT_EQ(pointers, (std::vector<std::string>{"/success", "/steps/0/retryCount", "/steps/1/startedAt"}));
}

TEST_F(Ingest, Analyze_AnswersAndKeepsNothing) {
  const HttpAnswer answer =
      service_->post("/v1/analyze", key_, R"({"runId":"only-looked-at","success":true,"outcomeSummary":"Your refund has been processed.",
    "steps":[{"stepKind":"tool","stepName":"issue_refund","status":"failed","errorMessage":"502 Bad Gateway"}]})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json body = json::parse(answer.body);
  EXPECT_EQ(body["failures"][0]["detectorKey"], "false_success");
  EXPECT_FALSE(body["failures"][0].contains("failureId"));
  EXPECT_EQ(body["detectors"].size(), 5u);
  EXPECT_EQ(service_->get("/v1/runs/only-looked-at", key_).status, 404);
}

}  // namespace
}  // namespace runwarden::test
