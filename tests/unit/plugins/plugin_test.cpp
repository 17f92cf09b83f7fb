#include "adapter/plugin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "context_overflow/context_overflow.h"
#include "expensive_loop/expensive_loop.h"
#include "false_success/false_success.h"
#include "missing_tool_call/missing_tool_call_plugin.h"
#include "runwarden/testing.hpp"
#include "schema_ghost/schema_ghost.h"

using namespace runwarden::plugins;
using FalseSuccessPlugin = Plugin<FalseSuccess>;
using ExpensiveLoopPlugin = Plugin<ExpensiveLoop>;
using SchemaGhostPlugin = Plugin<SchemaGhost>;
using ContextOverflowPlugin = Plugin<ContextOverflow>;

RW_DETECTORS(FalseSuccessPlugin, ExpensiveLoopPlugin, SchemaGhostPlugin, MissingToolCallPlugin, ContextOverflowPlugin);

namespace runwarden::plugins {
namespace {

using rw::testing::Answer;
using rw::testing::FakeRun;
using rw::testing::Subject;

FakeRun refund() {
  FakeRun run;
  run.user_request("Refund order 8842").success(true).outcome("Your refund has been processed.");
  run.add(rw::testing::tool_step("issue_refund").failed("502 Bad Gateway"));
  return run;
}

TEST(Plugin, Finding_CrossesTheAbiWhole) {
  auto run = refund();
  const Answer answer = Subject("false_success").evaluate(run);
  ASSERT_TRUE(answer.fired());
  EXPECT_TRUE(answer.refusals.empty());
  const auto& found = answer.findings[0];
  EXPECT_EQ(found.score, 95);
  EXPECT_EQ(found.severity, rw::Severity::high);
  EXPECT_EQ(found.source, rw::Source::tool);
  EXPECT_EQ(found.primary_step, 0);
  EXPECT_EQ(found.evidence[0].json_pointer, "/steps/0/errorMessage");
  EXPECT_EQ(found.fingerprint_parts[0], "issue_refund");
  EXPECT_EQ(found.confidence, std::optional(0.9));
}

TEST(Plugin, MissingToolCall_OfOneModelSpanAndNothingElse_Abstains) {
  FakeRun run;
  run.user_request("Cancel my subscription").outcome("Done, your subscription has been cancelled.");
  run.add(rw::testing::model_step("Done, your subscription has been cancelled."));
  EXPECT_TRUE(Subject("missing_tool_call").evaluate(run).fired());
  run.flag("/metadata/onlyModelSpan", true);
  const Answer answer = Subject("missing_tool_call").evaluate(run);
  ASSERT_TRUE(answer.not_evaluable());
  EXPECT_NE(answer.abstained->find("a single model span"), std::string::npos);
  run.add(rw::testing::model_step("Anything else?"));
  EXPECT_TRUE(Subject("missing_tool_call").evaluate(run).fired()) << "the mark is of one span";
}

TEST(Plugin, AbsentTexts_StayAbsent) {
  FakeRun run;
  run.add(rw::testing::tool_step("get_order").ok())
      .add(rw::testing::model_step("Order #8842 shipped on 2026-06-28, tracking 1Z999AA10123456784."));
  EXPECT_TRUE(Subject("schema_ghost").evaluate(run).clean());
}

TEST(Plugin, Waste_CrossesTheAbi) {
  FakeRun run;
  run.cost_usd(0.90);
  for (int i = 0; i < 3; ++i) run.add(rw::testing::tool_step("search").input("{}").output("[]").ok());
  const Answer answer = Subject("expensive_loop").evaluate(run);
  ASSERT_TRUE(answer.fired());
  EXPECT_DOUBLE_EQ(answer.findings[0].waste_usd.value(), 0.6);
}

TEST(Plugin, SilencedAlarm_IsTold) {
  FakeRun run;
  run.success(true).outcome("I was unable to refund your order.").add(rw::testing::tool_step("issue_refund").failed("502"));
  const Answer answer = Subject("false_success").evaluate(run);
  EXPECT_TRUE(answer.clean());
  ASSERT_FALSE(answer.suppressed.empty());
  EXPECT_EQ(answer.suppressed[0].confidence, std::nullopt) << "a rule is sure of it";
}

FakeRun cancelled_instead() {
  FakeRun run;
  run.user_request("Exchange my lamp").outcome("Your order W77 has been cancelled successfully. Expect the money in 5 to 7 business days.");
  run.add(rw::testing::tool_step("exchange_items").input(R"({"order":"W77","item":"90017"})").failed("order is not delivered yet"))
      .add(rw::testing::model_step("Only delivered orders can be exchanged. Shall we cancel it instead?"))
      .add(rw::testing::user_step("Yes, cancel it."))
      .add(rw::testing::tool_step("cancel_order").input(R"({"order":"W77"})").output(R"({"order":"W77","status":"cancelled"})").ok());
  return run;
}

TEST(Plugin, Candidate_CrossesTheAbiWithItsConfidence) {
  auto run = cancelled_instead();
  const Answer answer = Subject("false_success").evaluate(run);
  EXPECT_TRUE(answer.clean());
  ASSERT_EQ(answer.suppressed.size(), 1u);
  EXPECT_EQ(answer.suppressed[0].rule, "unrelated_claim");
  EXPECT_EQ(answer.suppressed[0].step, 0);
  EXPECT_EQ(answer.suppressed[0].confidence, std::optional(0.45));
}

TEST(Plugin, AFindingOfSeveralDoubts_IsAsSureAsTheGravestAllows) {
  auto run = cancelled_instead();
  const Answer answer = Subject("false_success", R"({"sensitivity":"wide"})").evaluate(run);
  ASSERT_TRUE(answer.fired());
  EXPECT_EQ(answer.findings[0].confidence, std::optional(0.45));
}

TEST(Plugin, AFindingThatNoLineWasAskedAbout_TellsNoConfidence) {
  FakeRun run;
  for (int i = 0; i < 3; ++i) run.add(rw::testing::tool_step("search").input("{}").output("[]").ok());
  const Answer answer = Subject("expensive_loop").evaluate(run);
  ASSERT_TRUE(answer.fired());
  EXPECT_EQ(answer.findings[0].confidence, std::nullopt);
}

TEST(Plugin, Explanation_CrossesTheAbiWhole) {
  auto run = refund();
  const Answer answer = Subject("false_success").explain(run);
  ASSERT_TRUE(answer.fired());
  const auto of = [&](rw::ExplanationKind kind) {
    std::vector<rw::testing::Explained> items;
    std::copy_if(answer.explanation.begin(), answer.explanation.end(), std::back_inserter(items),
                 [&](const auto& item) { return item.kind == kind; });
    return items;
  };
  const auto actions = of(rw::ExplanationKind::action);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].step, 0);
  EXPECT_EQ(actions[0].label, "write");
  EXPECT_EQ(actions[0].outcome, "failed");
  EXPECT_EQ(actions[0].reason, "\"502 Bad Gateway\"");
  const auto statements = of(rw::ExplanationKind::statement);
  ASSERT_EQ(statements.size(), 1u);
  EXPECT_EQ(statements[0].subject, "Your refund has been processed.");
  EXPECT_EQ(statements[0].json_pointer, "/outcomeSummary");
  EXPECT_EQ(statements[0].label, "claim");
  EXPECT_EQ(statements[0].reason, "processed");
  const auto rules = of(rw::ExplanationKind::rule);
  ASSERT_FALSE(rules.empty());
  EXPECT_EQ(rules.back().label, "fires");
  EXPECT_GT(rules.back().confidence.value_or(0), 0.6);
}

TEST(Plugin, AnExplanationThatNobodyAsksFor_IsNotGiven) {
  auto run = refund();
  EXPECT_TRUE(Subject("false_success").evaluate(run).explanation.empty());
}

TEST(Plugin, EveryDetector_ExplainsEveryRun_AndSaysTheSame) {
  for (const char* key : {"false_success", "expensive_loop", "schema_ghost", "missing_tool_call", "context_overflow"}) {
    for (auto run : {refund(), FakeRun()}) {
      Subject subject(key);
      const Answer plain = subject.evaluate(run);
      const Answer explained = subject.explain(run);
      EXPECT_FALSE(explained.explanation.empty()) << key;
      EXPECT_EQ(explained.findings.size(), plain.findings.size()) << key;
      EXPECT_EQ(explained.suppressed.size(), plain.suppressed.size()) << key;
      EXPECT_EQ(explained.abstained, plain.abstained) << key;
    }
  }
}

TEST(Plugin, ASilencedAlarm_IsTheAnswerOfItsRule) {
  FakeRun run;
  run.success(true).outcome("I was unable to refund your order.").add(rw::testing::tool_step("issue_refund").failed("502"));
  const Answer answer = Subject("false_success").explain(run);
  ASSERT_FALSE(answer.suppressed.empty());
  const auto silences = [&](const auto& item) { return item.label == "silences" && item.subject == answer.suppressed[0].rule; };
  EXPECT_EQ(std::count_if(answer.explanation.begin(), answer.explanation.end(), silences), 1);
}

// The limits hold, and the text of a long message parted in a character is text.
TEST(Plugin, AHugeRun_IsExplainedWithinTheLimits) {
  FakeRun run;
  std::string message;
  while (message.size() < 200'000) message += "Größe geändert. ";
  run.success(true).outcome("x" + message);
  for (int i = 0; i < 3000; ++i) run.add(rw::testing::tool_step("set_size").input("{\"id\":\"A-1\"}").failed("502"));
  const Answer answer = Subject("false_success").explain(run);
  EXPECT_FALSE(answer.failed()) << answer.failure;
  EXPECT_EQ(answer.explanation.size(), std::size_t{RW_MAX_EXPLANATIONS});
  for (const auto kind : {rw::ExplanationKind::action, rw::ExplanationKind::statement, rw::ExplanationKind::rule}) {
    const auto of_kind = [&](const auto& item) { return item.kind == kind; };
    EXPECT_GT(std::count_if(answer.explanation.begin(), answer.explanation.end(), of_kind), 0) << "no kind crowds out another";
  }
}

TEST(Plugin, MissingField_IsNotEvaluable) {
  FakeRun run;
  run.add(rw::testing::model_step("hi"));
  const Answer answer = Subject("context_overflow").evaluate(run);
  EXPECT_TRUE(answer.not_evaluable());
  EXPECT_NE(answer.abstained->find("inputTokens"), std::string::npos);
}

TEST(Plugin, WrongSettings_AreRefusedWithTheirPlace) {
  try {
    const Subject subject("false_success", R"({"extra_admissions":["oops"],"extra_verbs":[],"handover":false})");
    FAIL() << "was taken";
  } catch (const rw::testing::CreateFailed& fault) {
    EXPECT_STREQ(fault.what(),
                 "/extra_admissions: `extra_admissions` was removed: put the phrases under `admissions:` in a file and name it in "
                 "`vocabulary:`. Gone, too: extra_verbs, handover");
  }
}

TEST(Plugin, LongTitleWithLineBreaks_IsCutToOneLine) {
  FakeRun run;
  run.outcome("Your refund has been processed.").add(rw::testing::tool_step(std::string(3000, 'x') + "\n\xC3\xA9").failed("502"));
  const Answer answer = Subject("false_success").evaluate(run);
  ASSERT_TRUE(answer.fired());
  EXPECT_LE(answer.findings[0].title.size(), 512u);
}

TEST(Plugin, Deadline_StopsTheCall) {
  auto run = refund();
  EXPECT_EQ(Subject("false_success").evaluate(run, 0).status, RW_STOPPED);
}

}  // namespace
}  // namespace runwarden::plugins
