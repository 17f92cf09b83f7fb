#include "ingest/step_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace runwarden::ingest {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

json cut(const json& run, std::size_t most_bytes, const json& evidence = json::array()) {
  model::RunRecord record;
  record.failures_json = json{{{"failureId", "f"}, {"evidence", evidence}}}.dump();
  return json::parse(with_cut_step_texts(run.dump(), most_bytes, record));
}

const std::string kLong(300, 'x');

TEST(StepTexts, AreCutAndNamed_AndAllElseStays) {
  const json run = {{"runId", kLong},
                    {"userRequestText", kLong},
                    {"metadata", {{"note", kLong}}},
                    {"steps",
                     {{{"stepId", kLong}, {"stepName", "short"}, {"outputSummary", kLong}, {"retryCount", 2}, {"inputSummary", nullptr}},
                      {{"own", {{"a/b~c", {1, kLong}}}}, {"success", true}}}},
                    {"failures", json::array({{{"title", kLong}}})}};
  json expected = run;
  expected["steps"][0]["outputSummary"] = kLong.substr(0, 100);
  expected["steps"][1]["own"]["a/b~c"][1] = kLong.substr(0, 100);
  expected["cut"] = {"/steps/0/outputSummary", "/steps/1/own/a~1b~0c/1"};
  EXPECT_EQ(cut(run, 100), expected);
  expected = run;
  expected["cut"] = json::array();
  EXPECT_EQ(cut(run, 300), expected);
}

TEST(StepTexts, AreCutBetweenCharacters) {
  const auto of = [](const std::string& text, std::size_t most) {
    return cut({{"steps", {{{"outputSummary", text}}}}}, most)["steps"][0]["outputSummary"].get<std::string>();
  };
  const std::string four = "\xF0\x9F\x98\x80";
  EXPECT_EQ(of(std::string(98, 'x') + four + four, 100), std::string(98, 'x'));
  EXPECT_EQ(of(std::string(96, 'x') + four + four, 100), std::string(96, 'x') + four);
  EXPECT_EQ(of("\xC3\xA9" + std::string(99, 'x'), 100), "\xC3\xA9" + std::string(98, 'x'));
}

TEST(StepTexts, ThatEvidencePointsAt_StayWhole) {
  const json step = {{"errorMessage", kLong}, {"outputSummary", kLong}, {"own", {{"deep", kLong}}}};
  const json run = {{"steps", {step, step, step, step, step, step, step, step, step, step, step}}};
  const json evidence = {{{"pointer", "/steps/1/errorMessage"}, {"value", "x"}}, {{"pointer", "/steps/2/own"}}, {{"pointer", "/userRequestText"}}};
  const json shown = cut(run, 100, evidence);
  EXPECT_EQ(shown["steps"][1]["errorMessage"], kLong);
  EXPECT_EQ(shown["steps"][1]["outputSummary"], kLong.substr(0, 100));
  EXPECT_EQ(shown["steps"][2]["own"]["deep"], kLong);
  EXPECT_EQ(shown["steps"][10]["errorMessage"], kLong.substr(0, 100)) << "/steps/1 is no part of /steps/10";
  EXPECT_EQ(shown["cut"].size(), 33U - 2);
}

TEST(StepTexts, AMemberCutOfTheClient_GivesWay) {
  const json run = {{"a", 1}, {"cut", {{"deep", {1, {{"cut", 2}}}}}}, {"steps", {{{"cut", kLong}}}}, {"z", {{"cut", 3}}}};
  const json shown = cut(run, 100);
  EXPECT_THAT(shown["cut"], ElementsAre("/steps/0/cut"));
  EXPECT_EQ(shown["z"]["cut"], 3);
  EXPECT_EQ(shown["a"], 1);
}

TEST(StepTexts, OfARunWithoutSteps_NothingIsCut) {
  for (const json& run : {json::object(), json{{"steps", json::array()}}, json{{"steps", kLong}}}) {
    const json shown = cut(run, 100);
    EXPECT_THAT(shown["cut"], IsEmpty());
    EXPECT_EQ(shown.value("steps", json()), run.value("steps", json()));
  }
}

}  // namespace
}  // namespace runwarden::ingest
