#include "context_overflow/context_overflow.h"

#include <gtest/gtest.h>

#include "unit/plugins/run_builder.h"

namespace runwarden::plugins {
namespace {

Verdict judge(const RunBuilder& run, std::string_view settings = {}) {
  return ContextOverflow(settings).evaluate(run.run());
}

RunBuilder call(std::string_view model, std::int64_t tokens) {
  RunBuilder run;
  run.model("hi");
  run.last().model = run.keep(model);
  run.last().input_tokens = tokens;
  return run;
}

TEST(ContextOverflow, PublishedExample_FiresWithThePublishedWords) {
  const auto verdict = judge(call("gpt-4o", 175000));
  ASSERT_EQ(verdict.findings.size(), 1u);
  const auto& found = verdict.findings[0];
  EXPECT_EQ(found.score, 76);
  EXPECT_EQ(found.severity, Severity::kMedium);
  EXPECT_EQ(found.source, Source::kContext);
  EXPECT_EQ(found.title, "Context overflow: 175000 input tokens exceed gpt-4o's 128000-token window");
  EXPECT_EQ(
      found.summary,
      "The prompt sent to gpt-4o was 175000 tokens \xE2\x80\x94 36% over its 128000-token context window. The model silently dropped the "
      "overflow, so it answered using only partial context.");
}

struct Known {
  const char* model;
  std::int64_t window;
};

class Windows : public testing::TestWithParam<Known> {};

TEST_P(Windows, OneTokenMoreFires) {
  EXPECT_TRUE(judge(call(GetParam().model, GetParam().window)).findings.empty()) << GetParam().model;
  EXPECT_EQ(judge(call(GetParam().model, GetParam().window + 1)).findings.size(), 1u) << GetParam().model;
}

INSTANTIATE_TEST_SUITE_P(
    ContextOverflow, Windows,
    testing::Values(Known{"gpt-4.1", 1000000}, Known{"gpt-4.1-mini", 1000000}, Known{"gemini-1.5-flash", 1000000},
                    Known{"gemini-2.5-pro", 1000000}, Known{"gpt-5", 400000}, Known{"claude-3-5-sonnet-20241022", 200000},
                    Known{"claude-sonnet-4-5", 200000}, Known{"anthropic.claude-opus-4", 200000}, Known{"Claude Haiku 4.5", 200000},
                    Known{"openai/gpt-4o-2024-08-06", 128000}, Known{"gpt-4-turbo", 128000}, Known{"gpt-4-32k-0613", 32768},
                    Known{"gpt-3.5-turbo-16k", 16384}, Known{"gpt-4", 8192}, Known{"gpt-4-0613", 8192}, Known{"gpt-3.5-turbo", 4096},
                    Known{"azure/o1-2024-12-17", 200000}, Known{"meta-llama/Llama-3.1-8B-Instruct", 128000}, Known{"gemma3:12b", 128000},
                    Known{"mistral-small-latest", 128000}, Known{"devstral-small-2507", 128000}, Known{"grok-4-1-fast-reasoning", 2000000},
                    Known{"Qwen/Qwen3-30B-A3B-Instruct-2507", 262144}, Known{"gpt-5.2-chat-latest", 128000}));

TEST(ContextOverflow, UnknownModel_CannotTell) {
  EXPECT_NE(judge(call("house-model-7", 9000000)).cannot_tell.find("house-model-7"), std::string::npos);
}

TEST(ContextOverflow, ShortNameInsideAnotherWord_IsNotThatModel) {
  EXPECT_NE(judge(call("foo1-large", 9000000)).cannot_tell, "");
}

TEST(ContextOverflow, NoCount_CannotTell) {
  EXPECT_NE(judge(RunBuilder().model_name("gpt-4o").model("hi")).cannot_tell.find("no inputTokens on any model step"), std::string::npos);
}

TEST(ContextOverflow, ModelAddedBySettings_IsKnown) {
  EXPECT_EQ(judge(call("house-model-7", 9001), R"({"extra_windows":{"house-model":9000}})").findings.size(), 1u);
  EXPECT_NE(judge(call("gpt-4o", 9000000), R"({"windows":{"house-model":9000}})").cannot_tell, "");
}

TEST(ContextOverflow, RunCountWithOneModelStep_Counts) {
  EXPECT_EQ(judge(RunBuilder().model_name("gpt-4o").tokens(175000).model("hi")).findings.size(), 1u);
}

TEST(ContextOverflow, RunCountOverSeveralCalls_MayBeASum) {
  const auto verdict = judge(RunBuilder().model_name("gpt-4o").tokens(175000).model("hi").model("there"));
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_NE(verdict.cannot_tell.find("sum"), std::string::npos);
}

class Refusal : public testing::TestWithParam<const char*> {};

TEST_P(Refusal, FiresWithoutACount) {
  RunBuilder run;
  run.bare(Kind::kModel);
  run.last().error_message = GetParam();
  run.last().outcome = Outcome::kFailed;
  const auto verdict = judge(run);
  ASSERT_EQ(verdict.findings.size(), 1u) << GetParam();
  EXPECT_EQ(verdict.findings[0].score, 90);
}

INSTANTIATE_TEST_SUITE_P(ContextOverflow, Refusal,
                         testing::Values("context_length_exceeded", "prompt is too long: 210000 tokens > 200000 maximum",
                                         "This model's maximum context length is 8192 tokens",
                                         "The input token count exceeds the maximum number of tokens allowed"));

TEST(ContextOverflow, OtherErrors_AreNoRefusal) {
  RunBuilder run;
  run.bare(Kind::kModel);
  run.last().error_message = "rate limit: too many requests";
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(ContextOverflow, HugeCount_DoesNotOverflowThePercentage) {
  const auto verdict = judge(call("gpt-4o", INT64_MAX));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_NE(verdict.findings[0].summary.find("7205759403792693% over"), std::string::npos);
}

}  // namespace
}  // namespace runwarden::plugins
