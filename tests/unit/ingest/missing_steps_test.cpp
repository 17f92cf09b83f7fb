#include "ingest/missing_steps.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "intake/event_reader.h"
#include "intake/run_reader.h"

namespace runwarden::ingest {
namespace {

// How many steps of the events the run lacks. Both are as clients send them.
std::size_t missing(const std::string& events, const std::string& steps) {
  const auto request = intake::read_events(R"({"runId":"r","events":[)" + events + "]}", {});
  const auto run = intake::read_run(R"({"runId":"r","steps":[)" + steps + "]}", {}, {});
  EXPECT_TRUE(request.ok() && run.ok());
  std::vector<std::string> told;
  for (const intake::Event& event : request->events) told.push_back(event.json);
  return steps_missing(intake::steps_of_events(told), run->document);
}

constexpr const char* kCall = R"({"type":"tool_call","name":"refund","input":{"id": 1},"output":null,"eventId":"e1"})";
constexpr const char* kSaid = R"({"type":"model_output","text":"Done"})";
constexpr const char* kCallStep = R"({"stepKind":"function","stepName":"refund","inputSummary":{"id":1},"outputSummary":"null"})";
constexpr const char* kSaidStep = R"({"stepKind":"model","stepName":"gpt","outputSummary":"Done"})";

std::string both(const std::string& first, const std::string& second) {
  return first + "," + second;
}

TEST(MissingSteps, ARunWithAllSteps_LacksNone) {
  EXPECT_EQ(missing(both(kCall, kSaid), both(kCallStep, kSaidStep)), 0u)
      << "kinds have several words; what an event leaves open may be anything";
  EXPECT_EQ(missing(both(kCall, kSaid), both(both(kSaidStep, kCallStep), both(kCallStep, kSaidStep))), 0u) << "it may have more";
  EXPECT_EQ(missing("", ""), 0u);
  EXPECT_EQ(missing(R"({"type":"run_started","userRequestText":"Hi"})", ""), 0u) << "not a step";
}

TEST(MissingSteps, ARunWithOthers_LacksThem) {
  EXPECT_EQ(missing(both(kCall, kSaid), ""), 2u);
  EXPECT_EQ(missing(both(kCall, kSaid), kCallStep), 1u);
  EXPECT_EQ(missing(both(kCall, kSaid), kSaidStep), 2u) << "the order counts";
  EXPECT_EQ(missing(both(kCall, kSaid), both(kSaidStep, kCallStep)), 1u);
  EXPECT_EQ(missing(kCall, R"({"stepKind":"model","stepName":"refund","inputSummary":{"id":1},"outputSummary":"null"})"), 1u);
  EXPECT_EQ(missing(kCall, R"({"stepKind":"tool","stepName":"pay","inputSummary":{"id":1},"outputSummary":"null"})"), 1u);
  EXPECT_EQ(missing(kCall, R"({"stepKind":"tool","stepName":"refund","inputSummary":{"id":2},"outputSummary":"null"})"), 1u);
  EXPECT_EQ(missing(kCall, R"({"stepKind":"tool","stepName":"refund","inputSummary":{"id":1}})"), 1u);
}

TEST(MissingSteps, AnEmptyText_IsThatOfAStepWithout) {
  EXPECT_EQ(missing(R"({"type":"model_output","text":""})", R"({"stepKind":"model"})"), 0u);
  EXPECT_EQ(missing(R"({"type":"model_output","text":""})", R"({"stepKind":"model","outputSummary":"Done"})"), 1u);
  EXPECT_EQ(missing(R"({"type":"tool_call","error":""})", R"({"stepKind":"tool","errorMessage":"no"})"), 0u) << "says nothing";
  EXPECT_EQ(missing(R"({"type":"tool_call","error":"no"})", R"({"stepKind":"tool"})"), 1u);
}

TEST(MissingSteps, AnEventOfItsOwnType_IsAStep) {
  EXPECT_EQ(missing(R"({"type":"handover","stepName":"b"})", R"({"stepKind":"handover","stepName":"b"})"), 0u);
  EXPECT_EQ(missing(R"({"type":"handover","stepName":"b"})", R"({"stepKind":"handover","stepName":"c"})"), 1u);
}

}  // namespace
}  // namespace runwarden::ingest
