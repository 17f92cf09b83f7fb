#include "context_overflow/context_overflow.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "context_overflow/windows.h"
#include "context_overflow/windows_file.h"
#include "unit/plugins/run_builder.h"
#include "vocabulary_file.h"

namespace runwarden::plugins {
namespace {

Verdict judge(const RunBuilder& run, std::string_view settings = {}) {
  return ContextOverflow(settings).evaluate(run.run());
}

RunBuilder call(std::string_view model, std::int64_t tokens) {
  RunBuilder run;
  run.model("hi");
  run.last().model = run.copy(model);
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
    testing::Values(
        Known{"gpt-4.1", 1047576}, Known{"gpt-4.1-mini", 1047576}, Known{"gpt-5", 400000}, Known{"gpt-5-mini-2025-08-07", 400000},
        Known{"gpt-5.2-chat-latest", 128000}, Known{"gpt-5.1-codex-mini", 400000}, Known{"codex-mini-latest", 200000},
        Known{"gpt-5.4-mini", 400000}, Known{"openai/gpt-5.4", 1050000}, Known{"gpt-5.6-terra", 1050000}, Known{"gpt-6-astra", 1050000},
        Known{"gpt-6.2-sol", 1050000}, Known{"openai/gpt-4o-2024-08-06", 128000}, Known{"chatgpt-4o-latest", 128000},
        Known{"ft:gpt-4o-mini-2024-07-18:org::id", 128000}, Known{"gpt-4-turbo", 128000}, Known{"gpt-4-32k-0613", 32768},
        Known{"gpt-3.5-turbo-16k", 16384}, Known{"gpt-4", 8192}, Known{"gpt-4-0613", 8192}, Known{"gpt-3.5-turbo", 4096},
        Known{"gpt-35-turbo-0125", 16385}, Known{"azure/o1-2024-12-17", 200000}, Known{"openai/gpt-oss-120b:free", 131072},
        Known{"claude-3-5-sonnet-20241022", 200000}, Known{"claude-sonnet-4-5", 200000}, Known{"claude-sonnet-4-5-20250929[1m]", 1000000},
        Known{"anthropic.claude-opus-4", 200000}, Known{"us.anthropic.claude-opus-4-1-20250805-v1:0", 200000},
        Known{"us.anthropic.claude-opus-4-6-v1:0", 1000000}, Known{"anthropic/claude-opus-4.8", 1000000},
        Known{"claude-sonnet-4-6", 1000000}, Known{"anthropic--claude-4.6-opus", 1000000}, Known{"claude-opus-5-5", 1000000},
        Known{"claude-fable-5", 1000000}, Known{"Claude Haiku 4.5", 200000}, Known{"claude-haiku-5-5", 1000000},
        Known{"claude-haiku-4-5@20251001", 200000}, Known{"anthropic.claude-v2:1", 200000}, Known{"anthropic.claude-v2", 100000},
        Known{"gemini-1.5-flash", 1048576}, Known{"models/gemini-2.5-pro", 1048576}, Known{"google/gemini-pro-1.5", 2097152},
        Known{"gemini-flash-latest", 1048576}, Known{"gemini-3.5-flash", 1048576}, Known{"gemma3:12b", 131072},
        Known{"gemma4:31b-cloud", 262144}, Known{"google/gemma-2-27b-it", 8192}, Known{"meta-llama/Llama-3.1-8B-Instruct", 131072},
        Known{"us.meta.llama3-1-70b-instruct-v1:0", 131072}, Known{"accounts/fireworks/models/llama-v3p1-8b-instruct", 131072},
        Known{"meta-llama/llama-3-3-70b-instruct", 131072}, Known{"llama3:8b-instruct-q4_K_M", 8192},
        Known{"Meta-Llama-3-70B-Instruct", 8192}, Known{"llama4:scout", 10485760}, Known{"meta.llama4-maverick-17b-instruct-v1:0", 1048576},
        Known{"mistral-small-latest", 262144}, Known{"mistral-large-2411", 131072}, Known{"mistral.mixtral-8x7b-instruct-v0:1", 32768},
        Known{"devstral-small-2507", 131072}, Known{"mistral-7b-instruct-v0.3-Q4_K_M.gguf", 32768},
        Known{"grok-4-1-fast-reasoning", 2000000}, Known{"grok-4-0709", 256000}, Known{"x-ai/grok-4.5", 500000},
        Known{"grok-4.20-0309-reasoning", 2000000}, Known{"Qwen/Qwen3-30B-A3B-Instruct-2507", 262144}, Known{"qwen3:8b", 131072},
        Known{"Qwen2.5-7B-Instruct-1M", 1000000}, Known{"qwen3.6-35b-a3b", 262144}, Known{"qwen3.7-max", 1000000},
        Known{"deepseek/deepseek-chat-v3.1", 163840}, Known{"deepseek-chat", 1048576},
        Known{"accounts/fireworks/models/deepseek-v3p1", 163840}, Known{"deepseek-r1:70b", 163840}, Known{"moonshotai/kimi-k2.6", 262144},
        Known{"accounts/fireworks/models/kimi-k2p5", 262144}, Known{"z-ai/glm-4.6:exacto", 204800}, Known{"zai-org-glm-5-2", 1048576},
        Known{"MiniMax-M2.5", 204800}, Known{"us.amazon.nova-pro-v1:0", 300000}, Known{"amazon/nova-2-lite-v1:free", 1000000},
        Known{"command-a-03-2025", 288000}, Known{"nvidia/nemotron-3-nano-30b-a3b", 1048576}, Known{"ibm/granite-3-3-8b-instruct", 131072},
        Known{"phi3.5:3.8b", 131072}, Known{"tiiuae/Falcon3-10B-Instruct", 32768}));

class NoWindow : public testing::TestWithParam<const char*> {};

TEST_P(NoWindow, CannotTell) {
  const auto verdict = judge(call(GetParam(), 9000000));
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_NE(verdict.cannot_tell.find("unknown model"), std::string::npos) << verdict.cannot_tell;
}

// Versions that are not in the table, and names of deployments, which are no models.
INSTANTIATE_TEST_SUITE_P(ContextOverflow, NoWindow,
                         testing::Values("gpt-41", "gpt-5.9", "gpt-54-mini", "glm-5p9", "glm-5-9-air", "llama-34-8b", "qwen25-72b",
                                         "kimi-k29", "gemma-9", "gemma-5-27b-it", "gpt4all-13b", "chat-prod", "my-gpt4-deployment",
                                         "deepseek-v5"));

TEST(ContextOverflow, DropIn_ShowsTheShippedWindows) {
  std::ifstream file(std::filesystem::path(RUNWARDEN_DROP_INS) / "context_overflow.yaml");
  std::stringstream text;
  text << file.rdbuf();
  for (const auto& [name, tokens] : shipped_windows()) {
    EXPECT_NE(text.str().find("\n  #   \"" + name + "\": " + std::to_string(tokens) + "\n"), std::string::npos) << name;
  }
}

/// What the reader says of a file with these rows; empty when it takes them.
std::string fault_of(const std::string& rows) {
  try {
    (void)read_windows(rows, "windows.yaml");
    return {};
  } catch (const std::invalid_argument& fault) {
    return fault.what();
  }
}

TEST(WindowsFile, IsCompiledRowByRow) {
  const auto rows = read_windows_file(RUNWARDEN_WINDOWS_FILE);
  const auto compiled = shipped_window_rows();
  ASSERT_EQ(compiled.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(compiled[i].name, rows[i].name);
    EXPECT_EQ(compiled[i].tokens, rows[i].tokens) << rows[i].name;
  }
  EXPECT_EQ(shipped_windows().size(), rows.size()) << "no name twice";
}

TEST(WindowsFile, RowsOfModelsAreFound) {
  const auto rows = read_windows("# Of a made-up vendor.\n\"house-7[1m]\": 1000000\nhouse-7: 9000\n", "windows.yaml");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "house-7[1m]");
  EXPECT_EQ(rows[0].tokens, 1000000);
  EXPECT_EQ(rows[1].name, "house-7");
  EXPECT_EQ(rows[1].tokens, 9000);
  EXPECT_EQ(rows[1].line, 3);
}

TEST(WindowsFile, FaultNamesTheLine) {
  EXPECT_EQ(fault_of("gpt-5: 400000\ngpt-6: 400000\ngpt-5: 128000\n"),
            "windows.yaml:3: gpt-5: already listed in line 1; remove one of the two");
  EXPECT_EQ(fault_of("gpt-5: 400000\ngpt-6: 40\n"),
            "windows.yaml:2: gpt-6: expected a number of tokens from 1024 to 100000000, got \"40\"");
  EXPECT_EQ(fault_of("gpt-5: 100000001\n").substr(0, 22), "windows.yaml:1: gpt-5:");
  EXPECT_EQ(fault_of("gpt-5: 400k\n").substr(0, 22), "windows.yaml:1: gpt-5:");
  EXPECT_EQ(fault_of("gpt-5: [1]\n").substr(0, 22), "windows.yaml:1: gpt-5:");
  EXPECT_EQ(fault_of("gpt-5: 400000\n\nGPT 5: 400000\n"),
            "windows.yaml:3: expected a name of lower-case letters, digits, \".\", \"-\", \"[\" and \"]\", got \"GPT 5\"");
  EXPECT_EQ(fault_of("").substr(0, 15), "windows.yaml:1:");
  EXPECT_EQ(fault_of("- gpt-5\n"), "windows.yaml:1: expected a mapping of names to tokens; write `\"gpt-5\": 400000`");
  EXPECT_EQ(fault_of("gpt-5: 400000\n\"gpt-6: 1\n").substr(0, 15), "windows.yaml:2:");
}

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
  EXPECT_EQ(judge(call("house-model-7", 9001), R"({"windows":{"house-model":9000}})").findings.size(), 1u);
  EXPECT_EQ(judge(call("gpt-4o", 9000000), R"({"windows":{"house-model":9000}})").findings.size(), 1u) << "shipped ones stay";
  EXPECT_TRUE(judge(call("gpt-4o", 150000), R"({"windows":{"gpt-4o":200000}})").findings.empty()) << "and can be corrected";
  EXPECT_THROW(judge(call("gpt-4o", 1), R"({"windows":{"":5}})"), std::invalid_argument);
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

INSTANTIATE_TEST_SUITE_P(
    ContextOverflow, Refusal,
    testing::Values(
        "context_length_exceeded", "context-length-exceeded", "ContextLengthExceeded", "error 400: prompt_too_long",
        "too many tokens: total tokens 210000 exceeds max 200000", "Token count exceeds the model's limit.",
        "The prompt exceeds the maximum length of 8192.", "El prompt es demasiado largo: 210000 tokens",
        "La petici\u00F3n supera la ventana de contexto del modelo", "prompt is too long: 210000 tokens > 200000 maximum",
        "This model's maximum context length is 8192 tokens", "The input token count exceeds the maximum number of tokens allowed",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300012 tokens.",
        "Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576, but got a string with length "
        "1540820 instead.",
        "Request body too large for gpt-4o model. Max size: 8000 tokens.", "prompt token count of 140211 exceeds the limit of 128000",
        "input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000, decrease input length or `max_tokens` and try again",
        "ValidationException: Input is too long for requested model.",
        "The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Prompt contains 40012 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs.",
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292.",
        "Please reduce the length of the messages or completion. Current length is 70000 while limit is 65536",
        "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)",
        "invalid params, context window exceeds limit (2013)",
        "Error code: 400 - {'error': {'code': '1261', 'message': 'Prompt exceeds max length'}}",
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
        "InvalidParameter: Total tokens of image and text exceed max message tokens",
        "The decoder prompt (length 40000) is longer than the maximum model length of 32768.",
        "You passed 98305 input tokens and requested 32768 output tokens. However, the model's context length is only 131072 tokens.",
        "The input (210000 tokens) is longer than the model's context length (200000 tokens).",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`",
        "Input validation error: `inputs` must have less than 1024 tokens. Given: 1389",
        "the request exceeds the available context size, try increasing it",
        "The number of tokens to keep from the initial prompt is greater than the context length",
        "Trying to keep the first 6269 tokens when context the overflows. However, the model is loaded with context length of only 4096 "
        "tokens",
        "prompt too long; exceeded max context length by 4 tokens", "the input length exceeds the context length",
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens.",
        "litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException",
        "ContextWindowOverflowException: the agent's conversation is too long"));

class OtherLimit : public testing::TestWithParam<const char*> {};

TEST_P(OtherLimit, IsNoRefusalForLength) {
  RunBuilder run;
  run.bare(Kind::kModel);
  run.last().error_message = GetParam();
  run.last().outcome = Outcome::kFailed;
  EXPECT_TRUE(judge(run).findings.empty()) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(
    ContextOverflow, OtherLimit,
    testing::Values(
        "rate limit: too many requests",
        "Request too large for model `llama-3.3-70b-versatile` in organization `org_1` on tokens per minute (TPM): Limit 12000, Requested "
        "14137, please reduce your message size and try again.",
        "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 342389. The input or output tokens must be reduced.",
        "Rate limit reached on tokens per minute (TPM): Limit 6000. Please reduce the length of the messages or completion.",
        "ThrottlingException: Too many tokens, please wait before trying again.",
        "ThrottlingException: Too many tokens per day, please wait before trying again.",
        "max_tokens is too large: 200000. This model supports at most 16384 completion tokens, whereas you provided 200000.",
        "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request "
        "has 1000 input tokens (32000 > 32768 - 1000).",
        "max_tokens: 16000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022",
        "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.",
        "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 8192.",
        "Range of max_tokens should be [1, 8192]",
        "messages.1.content.0.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
        "messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
        "413 request_too_large: Request exceeds the maximum size",
        "string_above_max_length: Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but "
        "got 64.",
        "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 "
        "(exclusive)."));

TEST(ContextOverflow, OtherLimitOfAFile_IsNoRefusal) {
  RunBuilder run;
  run.bare(Kind::kModel);
  run.last().error_message = "Quota of the house: prompt is too long for your plan";
  EXPECT_EQ(judge(run).findings.size(), 1u);
  const VocabularyFile file("language: en\nother_limits: [Quota of the HOUSE]\n");
  const auto verdict = judge(run, file.settings());
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(first_rule(verdict), "other_limits");
}

TEST(ContextOverflow, HugeCount_DoesNotOverflowThePercentage) {
  const auto verdict = judge(call("gpt-4o", INT64_MAX));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_NE(verdict.findings[0].summary.find("7205759403792693% over"), std::string::npos);
}

}  // namespace
}  // namespace runwarden::plugins
