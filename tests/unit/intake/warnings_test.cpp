#include <gtest/gtest.h>

#include "intake/change_reader.h"
#include "intake/event_reader.h"
#include "intake/member_names.h"
#include "intake/run_reader.h"

namespace runwarden::intake {
namespace {

// "pointer: meant" of each warning, in order.
std::string told(const std::vector<Warning>& warnings) {
  std::string text;
  for (const Warning& one : warnings) {
    const std::size_t from = one.detail.find('"') + 1;
    text += (text.empty() ? "" : ", ") + one.pointer + ": " + one.detail.substr(from, one.detail.find('"', from) - from);
  }
  return text;
}

std::string of_run(std::string_view json) {
  std::vector<Warning> warnings;
  return read_run(json, RunLimits{}, "r", &warnings).ok() ? told(warnings) : "fault";
}

std::string of_events(const std::string& events, const std::string& rest = {}) {
  std::vector<Warning> warnings;
  return read_events(R"({"runId":"r","events":[)" + events + "]" + rest + "}", EventLimits{}, &warnings).ok() ? told(warnings) : "fault";
}

std::string of_change(std::string_view json) {
  std::vector<Warning> warnings;
  return read_change(json, 64, &warnings).ok() ? told(warnings) : "fault";
}

std::string of_policy(std::string_view json) {
  std::vector<Warning> warnings;
  return read_policy(json, 64, &warnings).ok() ? told(warnings) : "fault";
}

TEST(Warnings, AMisspeltMemberOfARun_IsNamedWithTheOneThatIsMeant) {
  EXPECT_EQ(of_run(R"({"user_request":"Refund","sucess":true,"outcome_summary":"Done","Steps":[]})"),
            "/user_request: userRequestText, /sucess: success, /outcome_summary: outcomeSummary, /Steps: steps");
  EXPECT_EQ(of_run(R"({"steps":[{"stepKind":"tool"},{"step_name":"t","outputSumary":1,"sttaus":"failed","error":"502"}]})"),
            "/steps/1/step_name: stepName, /steps/1/outputSumary: outputSummary, /steps/1/sttaus: status, /steps/1/error: errorMessage");
  EXPECT_EQ(of_run(R"({"metadata":{"Model":"m","costUSD":1},"steps":[{"metadata":{"input-tokens":3}}]})"),
            "/metadata/Model: model, /metadata/costUSD: costUsd, /steps/0/metadata/input-tokens: inputTokens");
}

TEST(Warnings, AMisspeltMemberOfMetadata_IsNamedWithTheOneThatIsMeant) {
  EXPECT_EQ(of_run(R"({"metadata":{"modell":"m","inputToken":3},"steps":[{"metadata":{"imputTokens":3,"costUs":1}}]})"),
            "/metadata/modell: model, /metadata/inputToken: inputTokens, /steps/0/metadata/imputTokens: inputTokens, "
            "/steps/0/metadata/costUs: costUsd");
  EXPECT_EQ(of_events(R"({"type":"model_output","eventId":"e","metadata":{"modell":"m"}})"), "/events/0/metadata/modell: model");
}

TEST(Warnings, OfEventsChangesAndPolicies) {
  EXPECT_EQ(of_events(R"({"typ":"tool_call","event_id":"e","tool":"refund","eror":"502"})", R"(,"finl":true)"),
            "/events/0/typ: type, /events/0/event_id: eventId, /events/0/tool: name, /events/0/eror: error, /finl: final");
  EXPECT_EQ(of_events(R"({"type":"run_started","user_request":"Refund it"})"), "/events/0/user_request: userRequestText");
  EXPECT_EQ(of_change(R"({"kind":"code","sumary":"s","commit":"9f3c"})"), "/sumary: summary, /commit: ref");
  EXPECT_EQ(of_policy(R"({"policy":"p","contents":1,"Author":"ann"})"), "/contents: content, /Author: author");
}

TEST(Warnings, MembersOfTheClientsOwn_BringNone) {
  EXPECT_EQ(of_run(R"({"agentId":"a","userId":"u","sessionId":"s","tags":[],"error":{},"mode":"x","policy":"p","text":"x","names":[],
                       "metadata":{"mode":"fast","models":2,"outputTokens":9,"totalTokens":12,"cost":1,"currency":"EUR","version":"2.4.1"},"steps":[{"spanId":"1","query":"q","latencyMs":5,"test":1}]})"),
            "");
  EXPECT_EQ(of_events(R"({"type":"retrieval","message":"m","result":[],"id":7,"texts":[]})"), "") << "an event of the client's own type";
  EXPECT_EQ(of_events(R"({"type":"tool_call","name":"t","input":{"user_request":1,"typ":2},"own":{"typ":1}})"), "")
      << "only the service's level";
  EXPECT_EQ(of_change(R"({"kind":"code","ref":"r","pipeline":"p","repository":"x"})"), "");
}

TEST(Warnings, AMemberBesideTheOneThatItResembles_BringsNone) {
  EXPECT_EQ(of_run(R"({"user_request":"x","userRequestText":"y","steps":[{"name":"x","stepName":"y"},{"name":"x"}]})"),
            "/steps/1/name: stepName");
  EXPECT_EQ(of_run(R"({"steps":[{"error":{"code":1},"errorMessage":"502"}]})"), "");
}

TEST(Warnings, TheSameSlipInManySteps_IsOneWarningThatCounts) {
  std::vector<Warning> warnings;
  ASSERT_TRUE(read_run(R"({"steps":[{"step_name":"a"},{"step_name":"b"},{"step_name":"c"}]})", RunLimits{}, "r", &warnings).ok());
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].pointer, "/steps/0/step_name");
  EXPECT_EQ(warnings[0].detail, "is stored as an unknown member; if you meant \"stepName\", use that name (3 times in this document)");
}

// "pointer detail" of each warning, one a line.
std::string lines(const std::vector<Warning>& warnings) {
  std::string text;
  for (const Warning& one : warnings) text += one.pointer + " " + one.detail + "\n";
  return text;
}

std::string lines_of_run(std::string_view json) {
  std::vector<Warning> warnings;
  return read_run(json, RunLimits{}, "r", &warnings).ok() ? lines(warnings) : "fault";
}

std::string lines_of_events(const std::string& events) {
  std::vector<Warning> warnings;
  return read_events(R"({"runId":"r","events":[)" + events + "]}", EventLimits{}, &warnings).ok() ? lines(warnings) : "fault";
}

TEST(Warnings, ValuesThatAreNearlyAKnownWord) {
  EXPECT_EQ(lines_of_events(R"({"type":"toolcall"},{"type":"model_ouput"},{"type":"run_finish"},{"type":"tool_call","status":"faild"})"),
            "/events/0/type \"toolcall\" is stored unchanged; if you meant \"tool_call\", send that\n"
            "/events/1/type \"model_ouput\" is stored unchanged; if you meant \"model_output\", send that\n"
            "/events/2/type \"run_finish\" is stored unchanged; if you meant \"run_finished\", send that\n"
            "/events/3/status \"faild\" is stored unchanged; if you meant \"failed\", send that\n");
  EXPECT_EQ(lines_of_run(R"({"steps":[{"stepKind":"tol","status":"Faild"},{"stepKind":"tol","status":"eror"}]})"),
            "/steps/0/stepKind \"tol\" is stored unchanged; if you meant \"tool\", send that (2 times in this document)\n"
            "/steps/0/status \"Faild\" is stored unchanged; if you meant \"failed\", send that\n"
            "/steps/1/status \"eror\" is stored unchanged; if you meant \"error\", send that\n");
}

TEST(Warnings, ValuesOfTheClientsOwn_BringNone) {
  EXPECT_EQ(lines_of_events(R"({"type":"retrieval"},{"type":"plan"},{"type":""},{"type":"tool_call","status":"running"})"), "");
  EXPECT_EQ(
      lines_of_run(R"({"steps":[{"stepKind":"Tool","status":"OK"},{"stepKind":"chain","status":"paused"},{"stepKind":"","status":""}]})"),
      "");
}

TEST(Warnings, MembersOfAnotherTypeOfEvent) {
  EXPECT_EQ(
      lines_of_events(
          R"({"type":"model_output","output":"Done."},{"output":"Hi","type":"model_output"},{"type":"run_started","text":"Refund it"})"),
      "/events/0/output is stored as an unknown member: a model_output is read from \"text\" (2 times in this document)\n"
      "/events/2/text is stored as an unknown member: a run_started is read from \"userRequestText\"\n");
  EXPECT_EQ(lines_of_events(R"({"type":"model_output","output":"Done.","text":"Done."},{"type":"tool_call","output":"x"})"), "");
  EXPECT_EQ(lines_of_events(R"({"type":"model_output","outputSummary":"Done."})"), "") << "it becomes the step's";
}

TEST(Warnings, NamesOfAnEvent_InOneThatBecomesAStepAsItIs) {
  const auto told = [](const std::string& pointer, const std::string& kind, const std::string& name, const std::string& type) {
    return pointer + " is stored as an unknown member: a step of kind \"" + kind + "\" is read from \"" + name +
           "\"; use that name, or the type \"" + type + "\"\n";
  };
  EXPECT_EQ(lines_of_events(R"({"type":"tool","name":"refund","error":"502"},{"type":"Function","input":1})"),
            told("/events/0/name", "tool", "stepName", "tool_call") + told("/events/0/error", "tool", "errorMessage", "tool_call") +
                told("/events/1/input", "Function", "inputSummary", "tool_call"));
  EXPECT_EQ(
      lines_of_events(R"({"type":"llm","output":"Hi"},{"type":"user","text":"Hi"})"),
      told("/events/0/output", "llm", "outputSummary", "model_output") + told("/events/1/text", "user", "outputSummary", "user_request"));
  EXPECT_EQ(lines_of_events(R"({"name":"refund","stepKind":"tool"})"), told("/events/0/name", "tool", "stepName", "tool_call"));
  EXPECT_EQ(lines_of_events(R"({"type":"tool","stepName":"a","name":"b"},{"type":"retrieval","name":"n","text":"t"},{"name":"n"})"), "");
}

TEST(Warnings, MembersThatBelongIntoMetadata) {
  EXPECT_EQ(lines_of_run(R"({"costUsd":-5,"model":"m","inputTokens":1})"),
            "/costUsd is stored as an unknown member; it is read from /metadata/costUsd\n"
            "/model is stored as an unknown member; it is read from /metadata/model\n"
            "/inputTokens is stored as an unknown member; it is read from /metadata/inputTokens\n");
}

TEST(Warnings, ManyValues_CostABoundedTime) {
  std::string steps;
  for (int i = 0; i < 2000; ++i) steps += (i == 0 ? "" : ",") + std::string(R"({"stepKind":"tol)") + std::to_string(i) + "\"}";
  std::vector<Warning> warnings;
  ASSERT_TRUE(read_run(R"({"steps":[)" + steps + "]}", RunLimits{}, "r", &warnings).ok());
  EXPECT_LE(warnings.size(), 10u);
}

TEST(Warnings, AreBoundedInNumber_HoweverManySlipsThereAre) {
  std::string json = "{";
  for (int i = 0; i < 2000; ++i) json += "\"User_" + std::string(i % 37, '_') + "Request" + std::string(i / 37, '-') + "\":1,";
  std::vector<Warning> warnings;
  ASSERT_TRUE(read_run(json + "\"runId\":\"r\"}", RunLimits{}, "r", &warnings).ok());
  EXPECT_LE(warnings.size(), 10u);
  EXPECT_GE(warnings.size(), 1u);
}

TEST(Warnings, PointersAreEscaped_AndAFaultBringsNone) {
  std::vector<Warning> warnings;
  ASSERT_TRUE(read_run(R"({"outcome/Summary":"x","outcome~Summary":"y"})", RunLimits{}, "r", &warnings).ok());
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0].pointer, "/outcome~1Summary");
  EXPECT_EQ(warnings[1].pointer, "/outcome~0Summary");
  warnings.clear();
  EXPECT_FALSE(read_run(R"({"user_request":"x","success":1})", RunLimits{}, "r", &warnings).ok());
  EXPECT_TRUE(warnings.empty());
  EXPECT_TRUE(read_run(R"({"user_request":"x"})", RunLimits{}, "r").ok()) << "nobody wants them";
}

}  // namespace
}  // namespace runwarden::intake
