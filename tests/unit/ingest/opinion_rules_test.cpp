// Which verdicts a model is asked about, and where its findings are shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/opinion_rules.h"
#include "ingest/reviews.h"

namespace runwarden::ingest {
namespace {

using model::DetectorStatus;
using ::testing::IsEmpty;
using ::testing::SizeIs;

model::DetectorReport report(const std::string& key, DetectorStatus status, std::vector<model::Suppression> suppressed = {}) {
  model::DetectorReport one;
  one.key = key;
  one.status = status;
  one.suppressed = std::move(suppressed);
  return one;
}

model::Finding finding(const std::string& key, int score) {
  model::Finding one;
  one.detector_key = key;
  one.suspicion_score = score;
  one.summary = "summary " + std::to_string(score);
  one.primary_step_id = "step-" + std::to_string(score);
  one.confidence = 0.7;
  return one;
}

std::vector<model::FailureRecord> failures_of(const model::Verdict& verdict) {
  std::vector<model::FailureRecord> failures;
  for (const auto& one : verdict.findings) {
    failures.emplace_back();
    failures.back().id = "fail_" + std::to_string(one.suspicion_score);
  }
  return failures;
}

model::Verdict sample() {
  model::Verdict verdict;
  verdict.findings = {finding("a", 90), finding("b", 80), finding("a", 70)};
  verdict.reports = {report("a", DetectorStatus::fired, {{"rule", "s1", "why", 0.3}}), report("b", DetectorStatus::fired),
                     report("c", DetectorStatus::clean, {{"sure", "s1", "ruled out", std::nullopt}, {"far", "s2", "too far", 0.4}, {"near", "s3", "vague", 0.5}}),
                     report("d", DetectorStatus::clean, {{"sure", "s1", "ruled out", std::nullopt}}),
                     report("e", DetectorStatus::not_evaluable)};
  return verdict;
}

const std::set<std::string> kAll = {"a", "b", "c", "d", "e"};

TEST(OpinionRules, OfCandidates_TheSurestOfADetectorThatDidNotFire) {
  const auto verdict = sample();
  const auto asked = questions_of(verdict, failures_of(verdict), {true, false, kAll});
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(asked[0].detector_key, "c");
  EXPECT_EQ(asked[0].rule, "near");
  EXPECT_EQ(asked[0].reason, "vague");
  EXPECT_EQ(asked[0].primary_step_id, "s3");
  EXPECT_EQ(asked[0].confidence, 0.5);
  EXPECT_FALSE(asked[0].of_alarm);
  EXPECT_EQ(asked[0].failure_id, "");
}

TEST(OpinionRules, OfAlarms_TheHighestOfEachDetector) {
  const auto verdict = sample();
  const auto asked = questions_of(verdict, failures_of(verdict), {false, true, kAll});
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_EQ(asked[0].failure_id, "fail_90");
  EXPECT_EQ(asked[0].reason, "summary 90");
  EXPECT_EQ(asked[0].primary_step_id, "step-90");
  EXPECT_EQ(asked[0].confidence, 0.7);
  EXPECT_TRUE(asked[0].of_alarm);
  EXPECT_EQ(asked[1].failure_id, "fail_80");
}

TEST(OpinionRules, WithoutRecordsOfTheFailures_AlarmsBearNone) {
  const auto asked = questions_of(sample(), {}, {false, true, {"b"}});
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_TRUE(asked[0].of_alarm);
  EXPECT_EQ(asked[0].failure_id, "");
}

TEST(OpinionRules, OfAll_Both_OfTheDetectorsThatAreNamed) {
  const auto verdict = sample();
  EXPECT_THAT(questions_of(verdict, failures_of(verdict), {true, true, kAll}), SizeIs(3));
  EXPECT_THAT(questions_of(verdict, failures_of(verdict), {true, true, {"c", "e"}}), SizeIs(1));
  EXPECT_THAT(questions_of(verdict, failures_of(verdict), {true, true, {}}), IsEmpty());
  EXPECT_THAT(questions_of(verdict, failures_of(verdict), {}), IsEmpty());
}

TEST(ShowConfirmed, StandsByItsScoreAmongTheOthers) {
  model::RunRecord run;
  run.failures_json = R"([{"failureId":"x","suspicionScore":90},{"failureId":"y","suspicionScore":40}])";
  run.outline = model::RunOutline{};
  run.outline->failures = "[]";
  model::FailureRecord found;
  found.json = R"({"failureId":"z","suspicionScore":70,"confirmedBy":"model:m"})";
  show_confirmed(run, {{found}});
  EXPECT_EQ(run.failures_json, R"([{"failureId":"x","suspicionScore":90},{"failureId":"z","suspicionScore":70,"confirmedBy":"model:m"},{"failureId":"y","suspicionScore":40}])");
  EXPECT_EQ(run.outline->failures, "[" + found.json + "]");
}

}  // namespace
}  // namespace runwarden::ingest
