#include "opinion/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/cluster.h"
#include "model/record_ids.h"
#include "unit/opinion/runs.h"

namespace runwarden::opinion {
namespace {

using model::OpinionState;
using model::ReviewVerdict;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr model::RecordKey kNow{1'700'000'100'000, 40};

AnsweredOpinion answered(OpinionVerdict verdict, model::Opinion opinion = candidate()) {
  const char* detector = opinion.detector_key.c_str();
  const model::OpinionPrompt& prompt = prompt_of(detector);
  return {9,
          std::move(opinion),
          prompt,
          model::prompt_version(config::built_in_opinion_prompts().frame, prompt),
          {verdict, "the refund failed", {{"/steps/1/errorMessage", "502 Bad Gateway"}}, 812},
          1450,
          1'699'999'999'000,
          ""};
}
store::OpinionWrite outcome(AnsweredOpinion about, OutcomeSettings settings = {.model = "small-1"}) {
  return outcome_of(std::move(about), run_of(refund()), settings, {kNow, 41});
}
model::Opinion alarm(std::optional<double> confidence) {
  model::Opinion one = candidate();
  one.of_alarm = true;
  one.rule.clear();
  one.failure_id = "fail_7";
  one.confidence = confidence;
  return one;
}
AnsweredOpinion about_alarm(OpinionVerdict verdict, std::optional<double> confidence) {
  AnsweredOpinion about = answered(verdict, alarm(confidence));
  about.cluster_id = "cl_7";
  return about;
}

TEST(OpinionOutcome, AConfirmedCandidate_IsAFailureOfItsOwn) {
  const store::OpinionWrite write = outcome(answered(OpinionVerdict::present));
  EXPECT_EQ(write.tenant, 9U);
  EXPECT_EQ(write.opinion.state, OpinionState::confirmed);
  EXPECT_EQ(write.opinion.token, 99U);
  EXPECT_EQ(write.opinion.attempts, 2U);
  EXPECT_EQ(write.opinion.last_error, "");
  ASSERT_TRUE(write.failure);
  const model::FailureRecord& failure = *write.failure;
  EXPECT_EQ(failure.key, (model::RecordKey{candidate().key.time_ms, 41})) << "the time of the run";
  EXPECT_EQ(failure.id, model::make_failure_id(failure.key));
  EXPECT_EQ(failure.run, candidate().run);
  EXPECT_EQ(failure.executed_ms, 1'699'999'999'000);
  EXPECT_EQ(failure.fingerprint, "false_success:issue_refund:no_claim");
  EXPECT_EQ(failure.score, 84);
  EXPECT_EQ(failure.severity, model::Severity::high);
  EXPECT_FALSE(failure.shadow);
  EXPECT_NE(failure.summary_mark, 0U);
  EXPECT_EQ(write.opinion.failure_id, failure.id);
  const json shown = json::parse(failure.json);
  EXPECT_EQ(shown,
            (json{{"failureId", failure.id},
                  {"runId", "run_1"},
                  {"revision", 2},
                  {"detectorKey", "false_success"},
                  {"suspicionScore", 84},
                  {"severity", "high"},
                  {"initialFailureSource", "tool"},
                  {"title", "False success: agent claimed completion after issue_refund failed"},
                  {"summary", "The detector was not sure (no_claim); model:small-1 read the run and confirmed it: the refund failed"},
                  {"primaryStepId", "step_2"},
                  {"evidence", {{{"pointer", "/steps/1/errorMessage"}, {"value", "502 Bad Gateway"}}}},
                  {"fingerprint", failure.fingerprint},
                  {"provenance", {{"detectorVersion", "1.4"}, {"settingsHash", "ab"}}},
                  {"confirmedBy", "model:small-1"},
                  {"detectedAt", "2023-11-14T22:13:20.000Z"}}));
  EXPECT_EQ(failure.title, shown["title"]);
  model::FailureRecord read;
  read.json = failure.json;
  model::read_summary(read);
  EXPECT_EQ(read.summary_mark, failure.summary_mark);

  ASSERT_THAT(write.reviews, SizeIs(1));
  const model::Review& review = write.reviews[0];
  EXPECT_EQ(review.verdict, ReviewVerdict::right);
  EXPECT_EQ(review.failure_id, failure.id);
  EXPECT_EQ(review.cluster_id, model::cluster_id(model::cluster_key(failure.fingerprint)));
  EXPECT_EQ(review.key, kNow);
  EXPECT_EQ(review.run_id, "run_1");
  EXPECT_EQ(review.revision, 2U);
  EXPECT_EQ(review.detector_version, "1.4");
  EXPECT_EQ(review.settings_hash, "ab");
  EXPECT_EQ(review.author, "model:small-1");
  EXPECT_EQ(json::parse(review.document), (json{{"verdict", "right"},
                                                {"opinion", "present"},
                                                {"reason", "the refund failed"},
                                                {"evidence", {{{"pointer", "/steps/1/errorMessage"}, {"quote", "502 Bad Gateway"}}}},
                                                {"author", "model:small-1"},
                                                {"at", "2023-11-14T22:15:00.000Z"},
                                                {"promptVersion", "false_success/1 frame/1"},
                                                {"tokens", 812},
                                                {"milliseconds", 1450}}));
  EXPECT_EQ(write.opinion.review, review.document);
}

TEST(OpinionOutcome, WithoutLeaveToConfirm_TheRunIsReviewedAsMissed) {
  const store::OpinionWrite write = outcome(answered(OpinionVerdict::present), {.model = "m", .may_confirm = false});
  EXPECT_EQ(write.opinion.state, OpinionState::confirmed);
  EXPECT_FALSE(write.failure);
  EXPECT_EQ(write.opinion.failure_id, "");
  ASSERT_THAT(write.reviews, SizeIs(1));
  EXPECT_EQ(write.reviews[0].verdict, ReviewVerdict::missed);
  EXPECT_EQ(write.reviews[0].failure_id, "");
  EXPECT_EQ(write.reviews[0].cluster_id, "");
  EXPECT_EQ(json::parse(write.reviews[0].document)["detector"], "false_success");
}

TEST(OpinionOutcome, ADeniedCandidate_IsAReviewOfTheRunAsClean) {
  const store::OpinionWrite write = outcome(answered(OpinionVerdict::absent));
  EXPECT_EQ(write.opinion.state, OpinionState::denied);
  EXPECT_FALSE(write.failure);
  ASSERT_THAT(write.reviews, SizeIs(1));
  EXPECT_EQ(write.reviews[0].verdict, ReviewVerdict::clean);
  EXPECT_EQ(write.reviews[0].failure_id, "");
}

TEST(OpinionOutcome, AnUnclearCandidate_IsNoReview_ButKeepsWhatWasSaid) {
  const store::OpinionWrite write = outcome(answered(OpinionVerdict::unclear));
  EXPECT_EQ(write.opinion.state, OpinionState::unclear);
  EXPECT_FALSE(write.failure);
  EXPECT_THAT(write.reviews, IsEmpty());
  const json said = json::parse(write.opinion.review);
  EXPECT_EQ(said["verdict"], "unsure");
  EXPECT_EQ(said["opinion"], "unclear");
  EXPECT_EQ(said["detector"], "false_success");
}

TEST(OpinionOutcome, OfAnAlarm_IsAReviewOfItsFailure) {
  struct Case {
    OpinionVerdict verdict;
    std::optional<double> confidence;
    bool may_silence;
    OpinionState state;
    ReviewVerdict review;
  };
  for (const Case& one : {Case{OpinionVerdict::present, 0.5, true, OpinionState::confirmed, ReviewVerdict::right},
                          Case{OpinionVerdict::absent, 0.5, false, OpinionState::denied, ReviewVerdict::unsure},
                          Case{OpinionVerdict::absent, 0.5, true, OpinionState::denied, ReviewVerdict::false_alarm},
                          Case{OpinionVerdict::absent, 0.9, true, OpinionState::denied, ReviewVerdict::false_alarm},
                          Case{OpinionVerdict::absent, 0.91, true, OpinionState::denied, ReviewVerdict::unsure},
                          Case{OpinionVerdict::absent, std::nullopt, true, OpinionState::denied, ReviewVerdict::unsure},
                          Case{OpinionVerdict::unclear, 0.5, true, OpinionState::unclear, ReviewVerdict::unsure}}) {
    const store::OpinionWrite write = outcome(about_alarm(one.verdict, one.confidence), {.model = "m", .may_silence = one.may_silence});
    EXPECT_EQ(write.opinion.state, one.state);
    EXPECT_FALSE(write.failure);
    EXPECT_EQ(write.opinion.failure_id, "fail_7");
    ASSERT_THAT(write.reviews, SizeIs(1));
    EXPECT_EQ(write.reviews[0].verdict, one.review) << one.confidence.value_or(-1);
    EXPECT_EQ(write.reviews[0].failure_id, "fail_7");
    EXPECT_EQ(write.reviews[0].cluster_id, "cl_7");
  }
}

TEST(OpinionOutcome, EqualCandidates_FormOneGroup) {
  const auto fingerprint = [](model::Opinion opinion, const std::string& reason) {
    AnsweredOpinion about = answered(OpinionVerdict::present, std::move(opinion));
    about.answer.reason = reason;
    return outcome(std::move(about)).failure->fingerprint;
  };
  model::Opinion another = candidate();
  another.run_id = "run_2";
  another.key.seq = 50;
  EXPECT_EQ(fingerprint(candidate(), "a"), fingerprint(another, "b"));
  another.rule = "admission";
  EXPECT_NE(fingerprint(candidate(), "a"), fingerprint(another, "a"));
  another = candidate();
  another.primary_step_id = "step_1";
  EXPECT_NE(fingerprint(candidate(), "a"), fingerprint(another, "a"));
}

TEST(OpinionOutcome, ACandidateAboutNoStep_HasATitleOfTheRun) {
  for (const char* step : {"", "gone"}) {
    model::Opinion about = candidate();
    about.primary_step_id = step;
    const store::OpinionWrite write = outcome(answered(OpinionVerdict::present, about));
    EXPECT_EQ(write.failure->title, prompt_of("false_success").failure.title_of_run);
  }
  model::Opinion unnamed = candidate();
  unnamed.primary_step_id = "step_1";
  EXPECT_THAT(outcome(answered(OpinionVerdict::present, unnamed)).failure->title, HasSubstr("after step_1 failed"));
}

// From what a model wrote to what is stored, as the worker does it.
store::OpinionWrite told(const json& answer) {
  const json body = {{"choices", {{{"message", {{"content", answer.dump()}}}}}}};
  const model::Run run = run_of(refund());
  AnsweredOpinion about = answered(OpinionVerdict::unclear);
  about.answer = with_checked_quotes(std::move(*read_answer(body.dump())), run);
  return outcome_of(std::move(about), run, {.model = "m"}, {kNow, 41});
}

TEST(OpinionOutcome, OfAScriptedModel) {
  const json quote = {{"pointer", "/steps/1/errorMessage"}, {"quote", "502  Bad\nGateway"}};
  EXPECT_EQ(told({{"verdict", "present"}, {"reason", "r"}, {"evidence", {quote}}}).opinion.state, OpinionState::confirmed);
  EXPECT_EQ(told({{"verdict", "present"}, {"reason", "r"}, {"evidence", json::array()}}).opinion.state, OpinionState::confirmed);
  EXPECT_EQ(told({{"verdict", "absent"}, {"reason", "r"}, {"evidence", {quote}}}).opinion.state, OpinionState::denied);
  EXPECT_EQ(told({{"verdict", "unclear"}, {"reason", "r"}, {"evidence", json::array()}}).opinion.state, OpinionState::unclear);
  const store::OpinionWrite lied =
      told({{"verdict", "present"}, {"reason", "r"}, {"evidence", {{{"pointer", "/steps/1/errorMessage"}, {"quote", "all is well"}}}}});
  EXPECT_EQ(lied.opinion.state, OpinionState::unclear);
  EXPECT_FALSE(lied.failure);
  EXPECT_THAT(json::parse(lied.opinion.review)["reason"].get<std::string>(), HasSubstr("all is well"));
}

}  // namespace
}  // namespace runwarden::opinion
