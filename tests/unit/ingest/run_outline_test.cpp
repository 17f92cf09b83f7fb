#include "model/run_outline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "intake/event_reader.h"
#include "intake/run_reader.h"
#include "ingest/answers.h"

namespace runwarden::ingest {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

model::RunRecord resolved(const model::Run& run, model::OutcomeFrom outcome = model::OutcomeFrom::last_output) {
  model::RunRecord record;
  record.run_id = std::string(run.id);
  record.document = run.document;
  record.failures_json = record.detectors_json = record.policies_json = "[]";
  record.outline = model::outline_of(run, outcome);
  model::set_arrays(*record.outline, record);
  return record;
}

model::Run read(const std::string& text) {
  auto run = intake::read_run(text, {}, "generated");
  EXPECT_TRUE(run.ok()) << run.error().detail;
  return std::move(*run);
}

json head_of(const std::string& text) {
  return json::parse(run_outline_json(resolved(read(text))));
}

// What a head shows, from the whole run. Texts have to be short.
json without_steps(json whole) {
  whole["stepCount"] = whole.contains("steps") ? whole["steps"].size() : 0;
  whole.erase("steps");
  return whole;
}

TEST(RunOutline, OfShortTexts_IsTheRunWithoutItsSteps) {
  for (
      const char* text : {
          R"({"runId":"a","userRequestText":"Hi","steps":[{"stepName":"x"},{"stepName":"y"}],"outcomeSummary":"Done","success":true})",
          R"({"steps":[{"stepName":"x"}],"outcomeSummary":"Done \"so\" \\"})",
          R"({"outcomeSummary":"Done","steps":[{"stepName":"x"}]})",
          R"({"steps":[{"outputSummary":"first"}]})",
          R"({"runId":"a","steps":[]})",
          R"({"runId":"a"})",
          R"({"metadata":{"cost_usd":1.5,"outcomeSummary":"not the run's","steps":[1]},"steps":[{"stepName":"x"}],"outcomeSummary":"Done"})",
          R"({"metadata":{"outcomeSummary":"not the run's"},"steps":[{"stepName":"x"}]})",
          R"({"mine":[{"steps":[{"stepId":"q"}]}],"steps":[{"stepName":"x"}],"startedAt":"2026-11-20T15:00:00+01:00"})",
      }) {
    const model::Run run = read(text);
    const model::RunRecord record = resolved(run);
    EXPECT_EQ(json::parse(run_outline_json(record)), without_steps(json::parse(run_json(record)))) << text;
    EXPECT_EQ(json::parse(run_outline_json(resolved(run, model::OutcomeFrom::told))), json::parse(run_outline_json(record))) << text;
    const model::RunOutline again = model::outline_of(run.document, model::OutcomeFrom::last_output);
    EXPECT_EQ(again.steps, run.steps.size());
    EXPECT_EQ(again.members, record.outline->members) << "a document as text gives the same outline";
    EXPECT_EQ(again.last_output, record.outline->last_output);
  }
}

TEST(RunOutline, TextsAreCutAt200Characters_NotInTheMiddleOfOne) {
  std::string umlauts;
  for (int i = 0; i < 300; ++i) umlauts += "\u00fc";
  const std::string exact(200, 'e');
  const json run = {{"runId", std::string(250, 'r')},
                    {"userRequestText", umlauts},
                    {"outcomeSummary", std::string(199, 'a') + "\U0001F600bc"},
                    {"exact", exact},
                    {"quotes", std::string(400, '"')},
                    {"nested", {{"list", {std::string(900, 'n')}}}},
                    {"lines", std::string(300, '\n')},
                    {"steps", {{{"stepName", "x"}}}}};
  const json head = head_of(run.dump());
  EXPECT_EQ(head["userRequestText"].get<std::string>(), umlauts.substr(0, 400));
  EXPECT_EQ(head["outcomeSummary"].get<std::string>(), std::string(199, 'a') + "\U0001F600");
  EXPECT_EQ(head["exact"], exact);
  EXPECT_EQ(head["quotes"], std::string(200, '"'));
  EXPECT_EQ(head["lines"], std::string(200, '\n'));
  EXPECT_EQ(head["nested"]["list"][0], std::string(200, 'n'));
  EXPECT_EQ(head["runId"], run["runId"]) << "an id that is cut is of no use";
  EXPECT_EQ(head["stepCount"], 1);
  EXPECT_FALSE(head.contains("leftOut"));
}

TEST(RunOutline, OfALargeRun_IsSmall_AndSaysWhatIsLeftOut) {
  json run = {{"runId", "a"}};
  for (int i = 0; i < 2000; ++i) run["a" + std::to_string(i)] = std::string(100, 'v');
  for (int i = 0; i < 2000; ++i) run["metadata"]["m" + std::to_string(i)] = i;
  run["userRequestText"] = std::string(5000, 'u');
  run["outcomeSummary"] = "Done";
  run["steps"] = json::array();
  for (int i = 0; i < 3000; ++i) run["steps"].push_back({{"outputSummary", std::string(100, 's')}});
  const std::string text = run_outline_json(resolved(read(run.dump())));
  EXPECT_LT(text.size(), 12'000u);
  const json head = json::parse(text);
  EXPECT_EQ(head["userRequestText"], std::string(200, 'u'));
  EXPECT_EQ(head["outcomeSummary"], "Done");
  EXPECT_EQ(head["stepCount"], 3000);
  EXPECT_GT(head["leftOut"], 1900);
}

TEST(RunOutline, OfManyFailures_KeepsTheFirst) {
  const model::Run run = read(R"({"runId":"a","steps":[{"stepName":"x"}]})");
  model::RunRecord record = resolved(run);
  json failures = json::array();
  for (int i = 0; i < 200; ++i) {
    failures.push_back(
        {{"failureId", "fail_" + std::to_string(i)}, {"summary", std::string(4000, 's')}, {"fingerprint", std::string(400, 'f')}});
  }
  record.failures_json = failures.dump();
  model::set_arrays(*record.outline, record);
  const json head = json::parse(run_outline_json(record));
  ASSERT_GT(head["failures"].size(), 10u);
  EXPECT_EQ(head["failures"][0]["failureId"], "fail_0");
  EXPECT_EQ(head["failures"][0]["summary"], std::string(200, 's'));
  EXPECT_EQ(head["failures"][0]["fingerprint"], std::string(400, 'f')) << "a reference that is cut leads nowhere";
  EXPECT_EQ(head["leftOut"].get<std::size_t>() + head["failures"].size(), 200u);
  EXPECT_LT(record.outline->failures.size(), 33'000u);
}

TEST(RunOutline, MembersOfTheClientThatAreNamedAsItsOwn_AreLeftToTheWholeRun) {
  const std::string text = run_outline_json(resolved(read(R"({"runId":"a","stepCount":"mine","leftOut":7,"steps":[{"stepName":"x"}]})")));
  EXPECT_THAT(text, HasSubstr(R"("stepCount":1)"));
  EXPECT_EQ(text.find("mine"), std::string::npos);
  EXPECT_FALSE(json::parse(text).contains("leftOut"));
}

// Event by event the outline has to come to what the whole open run shows.
class Streamed {
 public:
  void add(const json& event) {
    const auto request = intake::read_events(json{{"runId", "r"}, {"events", {event}}}.dump(), {});
    ASSERT_TRUE(request.ok()) << request.error().detail;
    events_.push_back(request->events[0].json);
    model::add_event(outline_, intake::outline_of(request->events[0]));
  }
  void expect_same() {
    model::RunRecord run;
    run.run_id = "r";
    run.state = model::RunState::open;
    run.outline = outline_;
    const std::string whole = open_run_json(run, events_);
    EXPECT_EQ(json::parse(run_outline_json(run)), without_steps(json::parse(whole))) << whole;
  }

 private:
  std::vector<std::string> events_;
  model::RunOutline outline_;
};

TEST(RunOutline, OfAnOpenRun_IsWhatItsEventsTell) {
  const json events[] = {
      {{"type", "run_started"},
       {"userRequestText", "First"},
       {"metadata", {{"model", "m"}, {"cost_usd", 1}}},
       {"at", "2026-11-20T15:00:00Z"}},
      {{"type", "run_started"}, {"metadata", {{"model", "other"}, {"more", {1, 2}}}}, {"state", "mine"}, {"own", {{"a", 1}}}},
      {{"type", "user_request"}, {"text", "Asked"}, {"metadata", {{"asked", true}}}},
      {{"type", "user_request"}, {"text", "First"}, {"channel", "mail"}, {"at", "2026-11-20T15:00:01Z"}},
      {{"type", "user_request"}, {"eventId", "e"}},
      {{"type", "run_started"}, {"userRequestText", "Asked"}},
      {{"type", "model_output"}, {"text", "Said"}},
      {{"type", "model_output"}, {"text", "Said more"}, {"metadata", {{"inputTokens", 5}}}},
      {{"type", "model_output"}, {"name", "silent"}},
      {{"type", "tool_call"}, {"name", "look"}, {"outcomeSummary", "of the step"}},
      {{"type", "note"}, {"text", "own kind"}, {"userRequestText", "of the step"}},
      {{"name", "without a type"}},
      {{"type", "run_finished"}, {"success", true}, {"at", "2026-11-20T15:00:09Z"}},
      {{"type", "run_finished"}, {"outcomeSummary", "Told"}},
  };
  std::minstd_rand random(7);
  for (int round = 0; round < 300; ++round) {
    Streamed run;
    for (int i = 0; i < 8; ++i) {
      ASSERT_NO_FATAL_FAILURE(run.add(events[random() % std::size(events)]));
      run.expect_same();
    }
    if (HasFailure()) return;
  }
}

TEST(RunOutline, OfAnOpenRun_StaysSmallHoweverManyEventsSetMembers) {
  model::RunOutline outline;
  for (int i = 0; i < 500; ++i) {
    const auto request = intake::read_events(
        json{{"runId", "r"}, {"events", {{{"type", "run_started"}, {"m" + std::to_string(i), std::string(150, 'v')}}}}}.dump(), {});
    model::add_event(outline, intake::outline_of(request->events[0]));
  }
  EXPECT_LE(outline.members.size(), 8u * 1024 + 64);
  EXPECT_GT(outline.left_out, 0u);
}

}  // namespace
}  // namespace runwarden::ingest
