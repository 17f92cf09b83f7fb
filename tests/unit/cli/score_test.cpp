// Detectors scored on labelled runs, and the counting behind it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/scores.h"
#include "unit/cli/program.h"
#include "unit/cli/runs.h"

namespace runwarden::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::json;

RunLabels labelled(Label label) {
  return {{{"loop", label}}, {{"loop", "three times"}}};
}

TEST(Scores, CountRightFalseAndMissed) {
  Scores scores;
  const Answers fired{{"loop"}, {"loop"}, {}};
  const Answers quiet{{"loop"}, {}, {}};
  scores.add("a", labelled(Label::present), fired);
  scores.add("b", labelled(Label::present), quiet);
  scores.add("c", labelled(Label::absent), fired);
  for (const char* id : {"d", "f", "g"}) scores.add(id, labelled(Label::absent), quiet);
  for (const Answers& either : {fired, quiet}) scores.add("e", labelled(Label::unclear), either);
  ASSERT_EQ(scores.detectors.size(), 1u);
  const DetectorScore& score = scores.detectors.at("loop");
  EXPECT_EQ(score.right, 1u);
  EXPECT_EQ(score.false_alarms, 1u);
  EXPECT_EQ(score.missed, 1u);
  ASSERT_EQ(scores.disagreements.size(), 2u);
  EXPECT_EQ(scores.disagreements[0].id, "b");
  EXPECT_EQ(scores.disagreements[0].label, Label::present);
  EXPECT_EQ(scores.disagreements[0].why, "three times");
  EXPECT_EQ(scores.disagreements[1].id, "c");
  EXPECT_EQ(scores.disagreements[1].label, Label::absent);
}

// A detector that cannot answer does not pass for one that found nothing.
TEST(Scores, OfADetectorThatFails_SaySo) {
  Scores scores;
  scores.add("a", labelled(Label::present), {{"loop"}, {}, {"loop"}});
  scores.add("b", labelled(Label::absent), {{"loop"}, {}, {"loop"}});
  EXPECT_EQ(scores.detectors.at("loop").errors, 2u);
  EXPECT_EQ(scores.detectors.at("loop").missed, 1u);
}

TEST(Scores, OfADetectorThatIsNotAsked_AreNone) {
  Scores scores;
  scores.add("a", labelled(Label::present), {{"ghost"}, {"ghost"}, {}});
  EXPECT_TRUE(scores.detectors.empty());
}

// Wilson's interval of 9 of 10 by hand: (0.9 + 0.19207 +- 1.95996 * sqrt(0.009 + 0.0096036)) / 1.384146.
TEST(Scores, HaveWilsonsInterval) {
  const DetectorScore score{9, 1, 27, 0};
  ASSERT_TRUE(score.precision());
  EXPECT_NEAR(score.precision()->value, 0.9, 1e-12);
  EXPECT_NEAR(score.precision()->low, 0.5958, 5e-5);
  EXPECT_NEAR(score.precision()->high, 0.9821, 5e-5);
  EXPECT_NEAR(score.recall()->value, 0.25, 1e-12);
  EXPECT_FALSE((DetectorScore{0, 0, 3, 0}).precision());
  EXPECT_FALSE((DetectorScore{0, 3, 0, 0}).recall());
}

TEST(Floors, AreReadAndHeld) {
  for (const char* bad : {"", "precision", "precision=", "precision=1.1", "precision=-0.1", "precision=nan", "f1=0.9",
                          "recall=0.5,recall=0.6", "recall=0.5x"})
    EXPECT_FALSE(floors_of(bad)) << bad;
  ASSERT_TRUE(floors_of("recall=0.5"));
  EXPECT_FALSE(floors_of("recall=0.5")->precision);
  Scores scores;
  scores.detectors["loop"] = {9, 1, 3, 0};
  scores.detectors["mute"] = {0, 0, 0, 0};
  EXPECT_THAT(shortfalls_of(scores, *floors_of("precision=0.9,recall=0.75")), ElementsAre());
  EXPECT_THAT(shortfalls_of(scores, *floors_of("precision=0.91,recall=0.76")),
              ElementsAre("loop: precision is 0.900, under 0.910", "loop: recall is 0.750, under 0.760"));
}

struct ScoreCommand : testing::Test {
  Program program;
  std::string config = write_config(program);
  // Found, missed (the label says that it is there), false alarm, quiet, unclear, no labels.
  std::string runs = program.folder().write("runs.jsonl", line("found", refund_run("1")) + line("missed", good_run("2")) +
                                                              line("false", refund_run("3")) + line("quiet", good_run("4")) +
                                                              line("unclear", refund_run("5")) + line("alone", refund_run("6")));
  std::string labels =
      program.folder().write("labels.jsonl", label("found", "present") + label("missed", "present") + label("false", "absent") +
                                                 label("quiet", "absent") + label("unclear", "unclear") + label("other", "present"));

  static std::string line(const std::string& id, const std::string& run) {
    return R"({"id":")" + id + R"(","source":"x","run":)" + run + "}\n";
  }
  static std::string label(const std::string& id, const std::string& text) {
    return R"({"id":")" + id + R"(","labels":{"false_success":")" + text + R"("},"why":{"false_success":"why )" + id + "\"}}\n";
  }
  Ended score(std::vector<std::string> args) const {
    args.insert(args.begin(), {"score", "--config", config, "--runs", runs, "--labels", labels});
    return program.run(args);
  }
};

TEST_F(ScoreCommand, SaysHowRightTheDetectorsAre) {
  const Ended ended = score({"--json"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.err, "");
  const Json answer = Json::parse(ended.out);
  EXPECT_EQ(answer["runs"], 5);
  EXPECT_EQ(answer["unlabeled"], 1);
  ASSERT_EQ(answer["detectors"].size(), 1u);
  const Json& detector = answer["detectors"][0];
  EXPECT_EQ(detector["key"], "false_success");
  EXPECT_EQ(detector["right"], 1);
  EXPECT_EQ(detector["falseAlarm"], 1);
  EXPECT_EQ(detector["missed"], 1);
  EXPECT_EQ(detector["precision"]["value"], 0.5);
  EXPECT_NEAR(detector["recall"]["low"].get<double>(), 0.0945, 5e-5);
  EXPECT_EQ(answer["disagreements"],
            (Json{{{"id", "missed"}, {"detectorKey", "false_success"}, {"kind", "missed"}, {"why", "why missed"}},
                  {{"id", "false"}, {"detectorKey", "false_success"}, {"kind", "false_alarm"}, {"why", "why false"}}}));
  EXPECT_FALSE(answer.contains("candidate"));
  EXPECT_FALSE(std::filesystem::exists(program.folder().path() / "data")) << "it needs no store";
  const std::string text = score({"--threads", "2"}).out;
  EXPECT_THAT(text, testing::ContainsRegex("false_success +1 +1 +1 +0.50 \\(0.09-0.91\\) +0.50 \\(0.09-0.91\\)\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\nfalse alarm +false_success +false +why false\n"));
  EXPECT_THAT(text, HasSubstr("\n5 runs; 1 without labels skipped\n"));
}

TEST_F(ScoreCommand, LabelForNoKnownDetector_IsRefusedWithTheKnownOnes) {
  labels = program.folder().write("typo.jsonl", label("found", "present") + R"({"id":"quiet","labels":{"fals_success":"absent"}})" + "\n");
  const Ended ended = score({});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err,
              HasSubstr(labels + ":2: the label \"fals_success\" does not name a known detector; known detectors are context_overflow, "
                                 "expensive_loop, false_success, missing_tool_call, schema_ghost\n"));
}

TEST_F(ScoreCommand, LabelsForADetectorThatIsNotEnabled_AreToldOnce) {
  const std::string other = R"(","labels":{"false_success":"present","schema_ghost":"absent"}})";
  labels = program.folder().write("other.jsonl", R"({"id":"found)" + other + "\n" + R"({"id":"missed)" + other + "\n");
  config = program.folder().write("one.yaml", "detectors:\n  search_path: [" DETECTORS "]\n  enabled: [{key: false_success}]\n");
  const Ended ended = score({"--json"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.err, "runwarden: warning: the labels for schema_ghost are ignored: the configuration does not enable it\n");
  EXPECT_EQ(Json::parse(ended.out)["detectors"].size(), 1u);
}

TEST_F(ScoreCommand, WithACandidate_ShowsBothAndWhatChanges) {
  const std::string candidate = program.folder().write(
      "candidate.yaml", "detectors:\n  search_path: [" DETECTORS "]\n  enabled: [{key: false_success, settings: {languages: [es]}}]\n");
  const Json answer = Json::parse(score({"--json", "--candidate", candidate}).out);
  EXPECT_EQ(answer["detectors"][0]["right"], 1);
  EXPECT_EQ(answer["candidate"]["detectors"][0]["right"], 0);
  EXPECT_EQ(answer["candidate"]["detectors"][0]["missed"], 2);
  EXPECT_EQ(answer["candidate"]["detectors"][0]["precision"], nullptr);
  EXPECT_EQ(answer["candidate"]["disagreements"].size(), 2u);
  ASSERT_EQ(answer["changed"].size(), 3u);
  EXPECT_EQ(answer["changed"][0],
            (Json{{"id", "found"}, {"detectorKey", "false_success"}, {"label", "present"}, {"was", "fired"}, {"now", "quiet"}}));
  EXPECT_THAT(score({"--candidate", candidate}).out, testing::ContainsRegex("\n +candidate +0 +0 +2 +- +0.00 "));
  EXPECT_EQ(score({"--fail-under", "recall=0.5"}).code, 0);
  EXPECT_EQ(score({"--fail-under", "recall=0.5", "--candidate", candidate}).code, 1) << "the candidate is what is tried";
}

TEST_F(ScoreCommand, FailUnder_IsAGate) {
  EXPECT_EQ(score({"--fail-under", "precision=0.5,recall=0.5"}).code, 0);
  const Ended ended = score({"--fail-under", "precision=0.51"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.err, "runwarden: false_success: precision is 0.500, under 0.510\n");
}

TEST_F(ScoreCommand, ARunTwice_CountsOnceAndIsRefusedByItsLine) {
  runs = program.folder().write("twice.jsonl",
                                line("found", refund_run("1")) + line("other", refund_run("2")) + line("found", refund_run("1")));
  const Ended ended = score({});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.err, "runwarden: " + runs + ":3: the id \"found\" is that of line 1, too\n");
  EXPECT_THAT(ended.out, HasSubstr("\n2 runs\n"));
}

TEST_F(ScoreCommand, WhatCannotBeRead_IsNamedByItsLine) {
  runs = program.folder().write("bad.jsonl",
                                line("found", refund_run("1")) + "{oops\n" + R"({"id":"quiet"})" + "\n" + line("quiet", R"({"steps":5})"));
  const Ended ended = score({});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr(runs + ":2: not JSON"));
  EXPECT_THAT(ended.err, HasSubstr(runs + ":3: the line lacks \"id\" or \"run\""));
  EXPECT_THAT(ended.err, HasSubstr(runs + ":4: "));
  EXPECT_THAT(ended.out, HasSubstr("\n1 run\n")) << "the others are scored all the same";
  for (const auto& [text, why] : std::vector<std::pair<std::string, const char*>>{
           {"{oops", ":1: not JSON at byte 1"},
           {"[]", ":1: the line lacks a text \"id\"; expected {"},
           {R"({"labels":{}})", ":1: the line lacks a text \"id\"; expected {"},
           {R"({"id":7,"labels":{}})", ":1: the line lacks a text \"id\"; expected {"},
           {R"({"id":"a"})", ":1: the line lacks an object \"labels\"; expected {"},
           {R"({"id":"a","labels":["false_success"]})", ":1: the line lacks an object \"labels\"; expected {"},
           {R"({"id":"a","labels":{},"why":{"false_success":7}})", ":1: its \"why\" is neither text nor an object of texts"},
           {R"({"id":"a","labels":{"false_success":"maybe"}})", "the label \"false_success\" is \"maybe\""},
           {label("a", "absent") + label("a", "absent"), "the id \"a\" already has labels"}}) {
    labels = program.folder().write("bad-labels.jsonl", text + "\n");
    const Ended refused = score({});
    EXPECT_EQ(refused.code, 1) << text;
    EXPECT_THAT(refused.err, HasSubstr(labels + ":")) << text;
    EXPECT_THAT(refused.err, HasSubstr(why)) << text;
  }
  labels = program.folder().write("others.jsonl", label("x", "absent"));
  EXPECT_THAT(score({}).err, HasSubstr("their ids must match"));
  EXPECT_EQ(score({}).code, 1) << "a gate that looked at nothing must not pass";
}

}  // namespace
}  // namespace runwarden::cli
