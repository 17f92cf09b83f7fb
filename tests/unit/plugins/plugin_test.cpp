#include "common/plugin.h"

#include <gtest/gtest.h>

#include "context_overflow/context_overflow.h"
#include "expensive_loop/expensive_loop.h"
#include "false_success/false_success.h"
#include "missing_tool_call/missing_tool_call.h"
#include "runwarden/testing.hpp"
#include "schema_ghost/schema_ghost.h"

using namespace runwarden::plugins;
using FalseSuccessPlugin = Plugin<FalseSuccess>;
using ExpensiveLoopPlugin = Plugin<ExpensiveLoop>;
using SchemaGhostPlugin = Plugin<SchemaGhost>;
using MissingToolCallPlugin = Plugin<MissingToolCall>;
using ContextOverflowPlugin = Plugin<ContextOverflow>;

RW_DETECTORS(FalseSuccessPlugin, ExpensiveLoopPlugin, SchemaGhostPlugin, MissingToolCallPlugin, ContextOverflowPlugin);

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
    const Subject subject("false_success", R"({"verbs":["cancel"]})");
    FAIL() << "was taken";
  } catch (const rw::testing::CreateFailed& fault) {
    EXPECT_EQ(std::string(fault.what()).rfind("/verbs: ", 0), 0u) << fault.what();
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
