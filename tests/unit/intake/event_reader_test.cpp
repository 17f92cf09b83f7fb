#include "intake/event_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace runwarden::intake {
namespace {

std::string run_text(const std::vector<std::string>& events) {
  std::string request = R"({"runId":"r","events":[)";
  for (const std::string& event : events) request += (request.back() == '[' ? "" : ",") + event;
  auto read = read_events(request + "]}", EventLimits{});
  if (!read.ok()) return "fault: " + read.error().detail;
  std::vector<std::string> texts;
  for (const Event& event : read->events) texts.push_back(event.json);
  return assemble_run("r", texts).json;
}

TEST(EventReader, ARequest_IsReadWithIdsAndEnds) {
  auto read = read_events(R"({"runId":"r","events":[{"type":"tool_call","eventId":"e1","x":[1]},{"type":"run_finished"},{}],"final":true,"other":1})", EventLimits{});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->run_id, "r");
  EXPECT_TRUE(read->final);
  ASSERT_EQ(read->events.size(), 3u);
  EXPECT_EQ(read->events[0].json, R"({"type":"tool_call","eventId":"e1","x":[1]})");
  EXPECT_EQ(read->events[0].event_id, "e1");
  EXPECT_FALSE(read->events[0].finishes);
  EXPECT_TRUE(read->events[1].finishes);
  EXPECT_EQ(read->events[2].json, "{}");
}

TEST(EventReader, FaultsAreNamedWithTheirPointers) {
  auto read = read_events(R"({"runId":5,"events":[{"type":1,"output":null},{"at":"soon","retryCount":-1},7,{"eventId":""}],"final":"yes"})", EventLimits{});
  ASSERT_FALSE(read.ok());
  std::string seen;
  for (const FieldFault& fault : read.error().faults) seen += fault.pointer + "=" + fault.code + " ";
  EXPECT_EQ(seen,
            "/runId=wrong_type /events/0/type=wrong_type /events/1/at=invalid_time /events/1/retryCount=wrong_type /events/2=wrong_type "
            "/events/3/eventId=out_of_range /final=wrong_type ");
  const auto no_array = read_events(R"({"runId":3,"events":{}})", EventLimits{});
  ASSERT_FALSE(no_array.ok());
  EXPECT_EQ(no_array.error().faults.size(), 2u) << "one for each member";
  auto empty = read_events("{}", EventLimits{});
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().faults.size(), 2u);
  EXPECT_TRUE(read_events(R"({"runId":"r","events":[]})", EventLimits{}).ok());
}

// The faults of an event that is valid JSON, as "pointer=code" with spaces between.
std::string faults_of(const std::string& event) {
  auto read = read_events(R"({"runId":"r","events":[)" + event + "]}", EventLimits{});
  std::string seen;
  if (read.ok()) return seen;
  for (const FieldFault& fault : read.error().faults) seen += (seen.empty() ? "" : " ") + fault.pointer + "=" + fault.code;
  return seen;
}

TEST(EventReader, MetadataThatTheRunReads_IsKept_AndMayComeOnce) {
  EXPECT_EQ(
      run_text(
          {R"({"type":"tool_call","metadata":{"httpStatus":null,"status_code":502,"cost_usd":"x","usage":{"prompt_tokens":7,"k":1}}})"}),
      R"({"runId":"r","steps":[{"stepKind":"tool","metadata":{"httpStatus":null,"status_code":502,"cost_usd":"x","usage":{"prompt_tokens":7,"k":1}}}]})");
  for (const char* twice : {R"("httpStatus":null,"httpStatus":502)", R"("status_code":500,"status_code":502)",
                            R"("usage":{"input_tokens":1,"input_tokens":2})"}) {
    EXPECT_THAT(run_text({R"({"type":"tool_call","metadata":{)" + std::string(twice) + "}}"}), testing::HasSubstr("appears twice"))
        << twice;
  }
}

TEST(EventReader, TwoNamesOfOneMember_MustHaveOneValue) {
  EXPECT_EQ(faults_of(R"({"type":"tool_call","name":"a","stepName":"b"})"), "/events/0/stepName=conflict");
  EXPECT_EQ(
      faults_of(
          R"({"errorMessage":"b","error":"a","inputSummary":"b","input":{"a":1},"output":"a","outputSummary":null,"type":"tool_call"})"),
      "/events/0/errorMessage=conflict /events/0/inputSummary=conflict /events/0/outputSummary=conflict");
  EXPECT_EQ(faults_of(R"({"type":"model_output","text":"a","outputSummary":"b"})"), "/events/0/outputSummary=conflict");
  EXPECT_EQ(faults_of(R"({"type":"run_started","at":"2026-01-01T00:00:00Z","startedAt":"2026-01-02T00:00:00Z"})"),
            "/events/0/startedAt=conflict");
  EXPECT_EQ(faults_of(R"({"type":"tool_call","stepKind":"model"})"), "/events/0/stepKind=conflict");
  EXPECT_EQ(faults_of(R"({"type":"retrieval","stepKind":"tool"})"), "/events/0/stepKind=conflict");
}

TEST(EventReader, ATypeInAFault_IsQuotedUpToTheEndOfACharacter) {
  const std::string type = std::string(79, 'a') + "\u00E9";
  auto read = read_events(R"({"runId":"r","events":[{"type":")" + type + R"(","stepKind":"tool"}]})", EventLimits{});
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().faults[0].detail.find(" in a " + std::string(79, 'a') + ";"), std::string::npos) << read.error().faults[0].detail;
}

TEST(EventReader, TwoNamesOfOneMember_MayHaveOneValue) {
  EXPECT_EQ(run_text({R"({"type":"tool_call","name":"a","stepName":"a","input":{"b": 1},"inputSummary":{"b":1},"stepKind":"tool"})"}),
            R"({"runId":"r","steps":[{"stepKind":"tool","stepName":"a","inputSummary":"{\"b\":1}"}]})");
  EXPECT_EQ(faults_of(R"({"type":"tool_call","name":null,"stepName":"b","stepKind":"tool_call"})"), "");
  EXPECT_EQ(faults_of(R"({"type":"run_started","at":"2026-01-01T01:00:00+01:00","startedAt":"2026-01-01T00:00:00Z"})"), "");
  EXPECT_EQ(faults_of(R"({"type":"retrieval","name":"a","stepName":"b","text":"c","outputSummary":"d"})"), "")
      << "an event of its own kind keeps both";
}

TEST(EventReader, EventsBecomeARun) {
  EXPECT_EQ(run_text({R"({"type":"run_started","userRequestText":"Refund it","metadata":{"model":"gpt-4o"},"at":"2026-01-01T00:00:00Z","agent":"a"})",
                      R"({"type":"tool_call","eventId":"e","name":"refund","input":{"id": 1},"output":null,"status":"failed","error":"502","at":"2026-01-01T00:00:01Z","mine":1})",
                      R"({"type":"model_output","text":"first"})", R"({"type":"model_output","text":"Your refund is done."})",
                      R"({"type":"retrieval","query":"x"})",
                      R"({"type":"run_finished","success":true,"metadata":{"costUsd":0.5},"at":"2026-01-01T00:00:02Z"})"}),
            R"({"runId":"r","userRequestText":"Refund it","startedAt":"2026-01-01T00:00:00.000Z","agent":"a","success":true,"endedAt":"2026-01-01T00:00:02.000Z",)"
            R"("outcomeSummary":"Your refund is done.","metadata":{"model":"gpt-4o","costUsd":0.5},"steps":[)"
            R"({"stepKind":"tool","eventId":"e","stepName":"refund","inputSummary":"{\"id\":1}","outputSummary":"null","status":"failed","errorMessage":"502","at":"2026-01-01T00:00:01.000Z","mine":1},)"
            R"({"stepKind":"model","outputSummary":"first"},{"stepKind":"model","outputSummary":"Your refund is done."},{"stepKind":"retrieval","query":"x"}]})");
}

TEST(EventReader, UserRequests_TheFirstIsTheRuns_LaterOnesAreSteps) {
  EXPECT_EQ(run_text({R"({"type":"user_request","text":"one"})", R"({"type":"user_request","text":"two"})"}),
            R"({"runId":"r","userRequestText":"one","steps":[{"stepKind":"user","outputSummary":"two"}]})");
}

TEST(EventReader, ARequestBesideOneOfTheStart_IsLostInNoOrder) {
  const std::string asked = R"({"type":"user_request","text":"one"})";
  const std::string started = R"({"type":"run_started","userRequestText":"two"})";
  EXPECT_EQ(run_text({asked, started}), R"({"runId":"r","userRequestText":"one","steps":[{"stepKind":"user","outputSummary":"two"}]})");
  EXPECT_EQ(run_text({started, asked}), R"({"runId":"r","userRequestText":"two","steps":[{"stepKind":"user","outputSummary":"one"}]})");
}

TEST(EventReader, ARequestEqualToTheOneOfTheStart_IsTheSame) {
  const std::string asked = R"({"type":"user_request","text":"one"})";
  const std::string started = R"({"type":"run_started","userRequestText":"one"})";
  EXPECT_EQ(run_text({asked, started}), R"({"runId":"r","userRequestText":"one","steps":[]})");
  EXPECT_EQ(run_text({started, asked}), R"({"runId":"r","userRequestText":"one","steps":[]})");
  EXPECT_EQ(run_text({asked, R"({"type":"tool_call"})", asked}),
            R"({"runId":"r","userRequestText":"one","steps":[{"stepKind":"tool"},{"stepKind":"user","outputSummary":"one"}]})");
}

TEST(EventReader, TheFirstRequest_KeepsItsOtherMembers) {
  EXPECT_EQ(run_text({R"({"type":"user_request","text":"one","channel":"mail","metadata":{"a":1}})"}),
            R"({"runId":"r","userRequestText":"one","channel":"mail","metadata":{"a":1},"steps":[]})");
  EXPECT_EQ(faults_of(R"({"type":"user_request","text":"a","userRequestText":"b"})"), "/events/0/userRequestText=conflict");
}

TEST(EventReader, TheTextOfAStep_IsReadUnderTheStepsNameAsWell) {
  EXPECT_EQ(run_text({R"({"type":"user_request","outputSummary":"one"})", R"({"type":"model_output","outputSummary":"Done."})",
                      R"({"type":"model_output","outputSummary":null})"}),
            R"({"runId":"r","userRequestText":"one","outcomeSummary":"Done.","steps":[{"stepKind":"model","outputSummary":"Done."},)"
            R"({"stepKind":"model","outputSummary":"null"}]})");
  EXPECT_EQ(faults_of(R"({"type":"user_request","outputSummary":"a","userRequestText":"b"})"), "/events/0/userRequestText=conflict");
}

TEST(EventReader, AnOutcomeOfTheEnd_WinsOverTheLastOutput) {
  EXPECT_EQ(run_text({R"({"type":"model_output","text":"a"})", R"({"type":"run_finished","outcomeSummary":"b","runId":"evil","steps":[]})"}),
            R"({"runId":"r","outcomeSummary":"b","steps":[{"stepKind":"model","outputSummary":"a"}]})");
}

}  // namespace
}  // namespace runwarden::intake
