#include "detect/call.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>

namespace runwarden::detect {
namespace {

class FixedClock final : public Clock {
 public:
  std::int64_t wall_ms() const override { return 0; }
  std::int64_t monotonic_ns() const override { return now_ns; }
  std::int64_t now_ns = 0;
};

rw_str str(std::string_view text) {
  return {text.data(), text.size()};
}

class CallTest : public testing::Test {
 protected:
  CallTest() {
    model::Step step;
    step.id = "step_1";
    step.name = "issue_refund";
    step.error_message = "502 Bad Gateway";
    run_.steps.push_back(step);
    finding_.struct_size = sizeof finding_;
    finding_.title = str("title");
    finding_.summary = str("summary");
    finding_.primary_step = 0;
    finding_.waste_usd = RW_ABSENT;
    finding_.confidence = RW_ABSENT;
  }
  rw_status emit() { return call_.raw().emit(call_.raw().ctx, &finding_); }
  rw_status suppress(std::string_view rule, std::int32_t step) {
    return call_.raw().suppress(call_.raw().ctx, str(rule), step, str("why"));
  }

  rw_status candidate(double confidence, std::string_view rule = "vague_claim", std::int32_t step = 0) {
    return call_.raw().candidate(call_.raw().ctx, str(rule), step, str("why"), confidence);
  }

  FixedClock clock_;
  model::Run run_;
  Call call_{clock_, run_, "false_success", 100};
  rw_finding finding_{};
};

TEST_F(CallTest, WhenAFindingIsGood_KeepsACopyWithAFingerprint) {
  std::string title = "mine";
  finding_.title = str(title);
  finding_.score = 95;
  finding_.severity = RW_SEVERITY_HIGH;
  ASSERT_EQ(emit(), RW_OK);
  title = "gone";
  ASSERT_EQ(call_.findings.size(), 1U);
  EXPECT_EQ(call_.findings[0].title, "mine");
  EXPECT_EQ(call_.findings[0].detector_key, "false_success");
  EXPECT_EQ(call_.findings[0].suspicion_score, 95);
  EXPECT_EQ(call_.findings[0].severity, model::Severity::high);
  EXPECT_EQ(call_.findings[0].primary_step_id, "step_1");
  EXPECT_EQ(call_.findings[0].fingerprint, "false_success:issue_refund:# bad gateway");
  EXPECT_EQ(call_.findings[0].waste_usd, std::nullopt);
  EXPECT_EQ(call_.findings[0].confidence, std::nullopt);
}

TEST_F(CallTest, WhenAFindingHasAConfidence_KeepsIt) {
  for (const double confidence : {0.0, 0.875, 1.0}) {
    finding_.confidence = confidence;
    ASSERT_EQ(emit(), RW_OK) << confidence;
    EXPECT_EQ(call_.findings.back().confidence, std::optional(confidence));
  }
}

// The member stands behind what such a library hands over, and may hold anything.
TEST_F(CallTest, WhenTheLibraryIsOlderThanConfidences_DoesNotReadThem) {
  finding_.struct_size = offsetof(rw_finding, confidence);
  finding_.confidence = 0.5;
  ASSERT_EQ(emit(), RW_OK) << call_.refused;
  EXPECT_EQ(call_.findings[0].confidence, std::nullopt);
  finding_.confidence = 7;
  EXPECT_EQ(emit(), RW_OK);
  finding_.struct_size -= 1;
  EXPECT_EQ(emit(), RW_INVALID_ARGUMENT);
  EXPECT_EQ(call_.refused, "the finding's struct_size is 87, at least 88 is needed");
}

TEST_F(CallTest, WhenPartsAreGiven_TheFingerprintIsMadeOfThem) {
  const rw_str parts[] = {str("issue_refund"), str("Order 55")};
  finding_.fingerprint_parts = parts;
  finding_.fingerprint_part_count = 2;
  ASSERT_EQ(emit(), RW_OK);
  EXPECT_EQ(call_.findings[0].fingerprint, "false_success:issue_refund:order #");
}

TEST_F(CallTest, WhenAMemberIsOutOfRange_AnswersInvalidArgument) {
  const rw_finding good = finding_;
  const auto refused = [&](auto change) {
    finding_ = good;
    change(finding_);
    return emit() == RW_INVALID_ARGUMENT && call_.findings.empty() && !call_.refused.empty();
  };
  EXPECT_TRUE(refused([](rw_finding& f) { f.score = 101; }));
  EXPECT_TRUE(refused([](rw_finding& f) { f.score = -1; }));
  EXPECT_TRUE(refused([](rw_finding& f) { f.severity = 4; }));
  EXPECT_TRUE(refused([](rw_finding& f) { f.source = 4; }));
  EXPECT_TRUE(refused([](rw_finding& f) { f.primary_step = 1; }));
  EXPECT_TRUE(refused([](rw_finding& f) { f.primary_step = -2; }));
  EXPECT_TRUE(refused([](rw_finding& f) { f.title = str(""); }));
  EXPECT_TRUE(refused([](rw_finding& f) { f.title = str(" \t "); }));
  EXPECT_TRUE(refused([](rw_finding& f) { f.title = str("first\nsecond"); }));
  EXPECT_TRUE(refused([](rw_finding& f) { f.summary = str("\n"); }));
  EXPECT_TRUE(refused([](rw_finding& f) { f.title = {nullptr, 5}; }));
  EXPECT_TRUE(refused([](rw_finding& f) { f.title = str("bad \xFF"); }));
  EXPECT_TRUE(refused([](rw_finding& f) { f.summary = {"nul\0x", 5}; }));
  EXPECT_TRUE(refused([](rw_finding& f) { f.struct_size = 8; }));
  EXPECT_TRUE(refused([](rw_finding& f) { f.waste_usd = std::numeric_limits<double>::quiet_NaN(); }));
  EXPECT_TRUE(refused([](rw_finding& f) { f.waste_usd = -0.5; }));
  for (const double wrong : {-0.01, 1.01, -2.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_TRUE(refused([&](rw_finding& f) { f.confidence = wrong; })) << wrong;
  EXPECT_TRUE(refused([](rw_finding& f) { f.evidence_count = 1; }));
  EXPECT_TRUE(refused([](rw_finding& f) { f.fingerprint_part_count = 1; }));
  EXPECT_EQ(call_.raw().emit(call_.raw().ctx, nullptr), RW_INVALID_ARGUMENT);
}

TEST_F(CallTest, WasteOfMinusZero_IsZero) {
  finding_.waste_usd = -0.0;
  ASSERT_EQ(emit(), RW_OK);
  EXPECT_FALSE(std::signbit(call_.findings[0].waste_usd.value()));
}

TEST_F(CallTest, WhenATextIsTooLong_AnswersLimit) {
  const std::string text(RW_MAX_SUMMARY + 1, 'x');
  finding_.summary = str(text);
  EXPECT_EQ(emit(), RW_LIMIT);
  finding_.summary = str(std::string_view(text).substr(1));
  EXPECT_EQ(emit(), RW_OK);
  finding_.title = {text.data(), std::numeric_limits<std::size_t>::max()};  // never read
  EXPECT_EQ(emit(), RW_LIMIT);
}

TEST_F(CallTest, WhenEvidenceIsWrong_TakesNothing) {
  rw_evidence item{sizeof(rw_evidence), 0, str("/steps/0"), str("x")};
  const rw_evidence* items[] = {&item};
  finding_.evidence = items;
  finding_.evidence_count = 1;
  EXPECT_EQ(emit(), RW_OK);
  item.json_pointer = str("steps");
  EXPECT_EQ(emit(), RW_INVALID_ARGUMENT);
  item.json_pointer = str("");
  const std::string text(RW_MAX_VALUE + 1, 'x');
  item.value = str(text);
  EXPECT_EQ(emit(), RW_LIMIT);
  finding_.evidence_count = RW_MAX_EVIDENCE + 1;
  EXPECT_EQ(emit(), RW_LIMIT);
  EXPECT_EQ(call_.findings.size(), 1U);
}

TEST_F(CallTest, WhenFindingsAreTooMany_AnswersLimitAndCounts) {
  for (int i = 0; i < RW_MAX_FINDINGS; ++i) ASSERT_EQ(emit(), RW_OK);
  EXPECT_EQ(emit(), RW_LIMIT);
  EXPECT_EQ(call_.findings.size(), std::size_t{RW_MAX_FINDINGS});
  EXPECT_EQ(call_.dropped, 1U);
}

TEST_F(CallTest, WhenARuleKeepsQuiet_KeepsRuleStepAndReason) {
  EXPECT_EQ(suppress("recovered", 0), RW_OK);
  EXPECT_EQ(suppress("recovered", RW_NO_STEP), RW_OK);
  EXPECT_EQ(suppress("recovered", 1), RW_INVALID_ARGUMENT);
  EXPECT_EQ(suppress("", 0), RW_INVALID_ARGUMENT);
  EXPECT_EQ(suppress(std::string(RW_MAX_RULE + 1, 'x'), 0), RW_LIMIT);
  ASSERT_EQ(call_.suppressed.size(), 2U);
  EXPECT_EQ(call_.suppressed[0].step_id, "step_1");
  EXPECT_EQ(call_.suppressed[1].step_id, "");
  EXPECT_EQ(call_.suppressed[0].confidence, std::nullopt);
}

TEST_F(CallTest, WhenOneIsACandidate_KeepsItsConfidence) {
  EXPECT_EQ(candidate(0.45), RW_OK);
  EXPECT_EQ(candidate(0), RW_OK);
  EXPECT_EQ(candidate(1, "vague_claim", RW_NO_STEP), RW_OK);
  ASSERT_EQ(call_.suppressed.size(), 3U);
  EXPECT_EQ(call_.suppressed[0].rule, "vague_claim");
  EXPECT_EQ(call_.suppressed[0].step_id, "step_1");
  EXPECT_EQ(call_.suppressed[0].reason, "why");
  EXPECT_EQ(call_.suppressed[0].confidence, std::optional(0.45));
  EXPECT_EQ(call_.suppressed[1].confidence, std::optional(0.0));
  EXPECT_EQ(call_.suppressed[2].confidence, std::optional(1.0));
}

TEST_F(CallTest, WhenACandidateIsWrong_TakesNothing) {
  for (const double wrong :
       {-0.01, 1.01, double{RW_ABSENT}, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_EQ(candidate(wrong), RW_INVALID_ARGUMENT) << wrong;
  EXPECT_EQ(candidate(0.5, ""), RW_INVALID_ARGUMENT);
  EXPECT_EQ(candidate(0.5, "vague_claim", 1), RW_INVALID_ARGUMENT);
  EXPECT_EQ(candidate(0.5, std::string(RW_MAX_RULE + 1, 'x')), RW_LIMIT);
  EXPECT_TRUE(call_.suppressed.empty());
  for (int i = 0; i < RW_MAX_SUPPRESSIONS; ++i) ASSERT_EQ(i % 2 == 0 ? candidate(0.5) : suppress("recovered", 0), RW_OK);
  EXPECT_EQ(candidate(0.5), RW_LIMIT) << "they share one limit";
  EXPECT_EQ(call_.suppressed.size(), std::size_t{RW_MAX_SUPPRESSIONS});
}

TEST_F(CallTest, WhenAReasonToAbstainIsWrong_SaysSo) {
  const auto abstain = [&](std::string_view reason) { return call_.raw().abstain(call_.raw().ctx, str(reason)); };
  EXPECT_EQ(abstain(std::string(RW_MAX_REASON + 1, 'x')), RW_LIMIT);
  EXPECT_EQ(call_.rejection(), "its reason to abstain was rejected: it has 1025 bytes, the limit is 1024");
  EXPECT_EQ(abstain(""), RW_INVALID_ARGUMENT);
  EXPECT_EQ(call_.rejection(), "its reason to abstain was rejected: it is empty");
  EXPECT_EQ(abstain("bad \xFF"), RW_INVALID_ARGUMENT);
  EXPECT_EQ(call_.rejection(), "its reason to abstain was rejected: it is not UTF-8 text without NUL");
  EXPECT_EQ(call_.abstained, "");
  EXPECT_EQ(abstain("no output"), RW_OK);
  EXPECT_EQ(call_.rejection(), "");
}

TEST_F(CallTest, WhenTheDeadlinePasses_ShouldStopTurnsTrue) {
  clock_.now_ns = 99;
  EXPECT_EQ(call_.raw().should_stop(call_.raw().ctx), 0U);
  clock_.now_ns = 100;
  EXPECT_EQ(call_.raw().should_stop(call_.raw().ctx), 1U);
}

TEST_F(CallTest, WhenTheTextOfAFailureIsBad_IsMended) {
  const std::string text = "bad \xFF " + std::string(3000, 'x');
  EXPECT_EQ(call_.raw().fail(call_.raw().ctx, str(text)), RW_OK);
  EXPECT_EQ(call_.failure.substr(0, 8), "bad \xEF\xBF\xBD ");
  EXPECT_LE(call_.failure.size(), std::size_t{RW_MAX_REASON} + 3);
}

TEST_F(CallTest, WhenInCreate_OnlyFailDoesAnything) {
  const Call create(clock_);
  EXPECT_EQ(create.raw().emit(create.raw().ctx, &finding_), RW_UNSUPPORTED);
  EXPECT_EQ(create.raw().suppress(create.raw().ctx, str("r"), 0, str("")), RW_UNSUPPORTED);
  EXPECT_EQ(create.raw().candidate(create.raw().ctx, str("r"), 0, str(""), 0.5), RW_UNSUPPORTED);
  EXPECT_EQ(create.raw().abstain(create.raw().ctx, str("r")), RW_UNSUPPORTED);
  EXPECT_EQ(create.raw().fail(create.raw().ctx, str("why")), RW_OK);
  EXPECT_EQ(create.failure, "why");
}

class ExplainedCallTest : public CallTest {
 protected:
  ExplainedCallTest() {
    call_.ask_for_explanation();
    item_.struct_size = sizeof item_;
    item_.kind = RW_EXPLAIN_ACTION;
    item_.confidence = RW_ABSENT;
    item_.subject = str("issue_refund(order=8842)");
    item_.label = str("write");
  }
  rw_status explain() { return call_.raw().explain(call_.raw().ctx, &item_); }

  rw_explanation item_{};
};

TEST_F(CallTest, WhenNobodyAsksForAnExplanation_ThereIsNoCallback) {
  EXPECT_EQ(call_.raw().explain, nullptr);
  EXPECT_EQ(Call(clock_).raw().explain, nullptr);
}

TEST_F(ExplainedCallTest, WhenAnItemIsGood_KeepsACopy) {
  std::string subject = "mine";
  item_.subject = str(subject);
  item_.confidence = 0.5;
  item_.json_pointer = str("/steps/0");
  item_.reason = str("because");
  ASSERT_EQ(explain(), RW_OK);
  subject = "gone";
  ASSERT_EQ(call_.explanation.size(), 1U);
  EXPECT_EQ(call_.explanation[0].subject, "mine");
  EXPECT_EQ(call_.explanation[0].step, 0);
  EXPECT_EQ(call_.explanation[0].confidence, std::optional(0.5));
  EXPECT_EQ(call_.explanation[0].pointer, "/steps/0");
  EXPECT_EQ(call_.explanation[0].reason, "because");
  EXPECT_FALSE(call_.explanation_cut);
}

TEST_F(ExplainedCallTest, WhenAMemberIsWrong_AnswersInvalidArgumentAndTakesNothing) {
  const rw_explanation good = item_;
  const auto refused = [&](auto change) {
    item_ = good;
    change(item_);
    call_.explanation_refused.clear();
    return explain() == RW_INVALID_ARGUMENT && call_.explanation.empty() && !call_.explanation_refused.empty();
  };
  EXPECT_TRUE(refused([](rw_explanation& e) { e.kind = RW_EXPLAIN_RULE + 1; }));
  EXPECT_TRUE(refused([](rw_explanation& e) { e.step = 1; }));
  EXPECT_TRUE(refused([](rw_explanation& e) { e.step = -2; }));
  EXPECT_TRUE(refused([](rw_explanation& e) { e.confidence = 1.5; }));
  EXPECT_TRUE(refused([](rw_explanation& e) { e.confidence = std::numeric_limits<double>::quiet_NaN(); }));
  EXPECT_TRUE(refused([](rw_explanation& e) { e.subject = str(""); }));
  EXPECT_TRUE(refused([](rw_explanation& e) { e.subject = {nullptr, 5}; }));
  EXPECT_TRUE(refused([](rw_explanation& e) { e.subject = str("bad \xFF"); }));
  EXPECT_TRUE(refused([](rw_explanation& e) { e.reason = {"nul\0x", 5}; }));
  EXPECT_TRUE(refused([](rw_explanation& e) { e.objects = str("bad \xFF"); }));
  EXPECT_TRUE(refused([](rw_explanation& e) { e.label = str(""); }));
  EXPECT_TRUE(refused([](rw_explanation& e) { e.label = str("two words"); }));
  EXPECT_EQ(call_.explanation_refused, "the label \"two words\" is not a word of lower-case letters and underscores");
  EXPECT_TRUE(refused([](rw_explanation& e) { e.outcome = str("Failed"); }));
  EXPECT_TRUE(refused([](rw_explanation& e) { e.json_pointer = str("steps"); }));
  EXPECT_TRUE(refused([](rw_explanation& e) { e.struct_size = 8; }));
  EXPECT_EQ(call_.raw().explain(call_.raw().ctx, nullptr), RW_INVALID_ARGUMENT);
  EXPECT_FALSE(call_.explanation_cut);
}

TEST_F(ExplainedCallTest, WhenATextIsTooLong_AnswersLimit) {
  const std::string text(RW_MAX_REASON + 1, 'x');
  const auto too_long = [&](rw_str rw_explanation::*member, std::size_t limit) {
    const rw_explanation good = item_;
    item_.*member = str(std::string_view(text).substr(0, limit + 1));
    const bool refused = explain() == RW_LIMIT;
    item_ = good;
    return refused;
  };
  EXPECT_TRUE(too_long(&rw_explanation::subject, RW_MAX_SUBJECT));
  EXPECT_TRUE(too_long(&rw_explanation::objects, RW_MAX_SUBJECT));
  EXPECT_TRUE(too_long(&rw_explanation::label, RW_MAX_LABEL));
  EXPECT_TRUE(too_long(&rw_explanation::outcome, RW_MAX_LABEL));
  EXPECT_TRUE(too_long(&rw_explanation::reason, RW_MAX_REASON));
  EXPECT_TRUE(too_long(&rw_explanation::json_pointer, RW_MAX_POINTER));
  EXPECT_TRUE(call_.explanation.empty());
  EXPECT_TRUE(call_.explanation_cut);
}

TEST_F(ExplainedCallTest, WhenItemsAreTooMany_AnswersLimitAndSaysSo) {
  for (int i = 0; i < RW_MAX_EXPLANATIONS; ++i) ASSERT_EQ(explain(), RW_OK);
  EXPECT_FALSE(call_.explanation_cut);
  EXPECT_EQ(explain(), RW_LIMIT);
  EXPECT_EQ(call_.explanation.size(), std::size_t{RW_MAX_EXPLANATIONS});
  EXPECT_TRUE(call_.explanation_cut);
}

TEST_F(ExplainedCallTest, WhenTheTextsAreTooManyBytes_AnswersLimit) {
  const std::string reason(RW_MAX_REASON, 'x');
  item_.reason = str(reason);
  int taken = 0;
  while (explain() == RW_OK) ++taken;
  const std::size_t each = item_.subject.len + item_.label.len + item_.reason.len;
  EXPECT_EQ(static_cast<std::size_t>(taken), RW_MAX_EXPLANATION_BYTES / each);
}

}  // namespace
}  // namespace runwarden::detect
