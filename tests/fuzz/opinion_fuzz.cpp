// What a model answers, and the runs that it is shown. An input that begins with r is a run, any other an answer about one run.
#include "base/json_check.h"
#include "config/opinion_prompts.h"
#include "fuzz/fuzz.h"
#include "fuzz/json_seeds.h"
#include "opinion/answer.h"
#include "opinion/request.h"
#include "opinion/run_text.h"

namespace runwarden::test {
namespace {

constexpr std::string_view kRun =
    R"({"userRequestText":"Refund order 4711","outcomeSummary":"Done.","steps":[{"stepKind":"tool","stepName":"refund","errorMessage":"502 Bad)"
    R"( Gateway","status":"failed"},{"stepKind":"model","outputSummary":"Done,\n| all\u2028 of it."}]})";
constexpr std::size_t kMostTokens = 3500;

void show(std::string_view json) {
  const auto run = opinion::read_document(json, "r");
  if (!run.ok()) return;
  const model::OpinionPrompts& prompts = config::built_in_opinion_prompts();
  model::Opinion about;
  about.detector_key = "false_success";
  about.reason = std::string(json.substr(0, 400));
  about.primary_step_id = "step_2";
  const auto request = opinion::make_request({prompts.frame, *prompts.find("false_success"), about, *run, opinion::focus_of(about, json)},
                                             {.model = "m", .max_input_tokens = kMostTokens}, "0123456789abcdef");
  must(request.ok(), "every run can be asked about", json);
  must(check_json(request->body, 10).ok(), "a request is JSON", request->body);
  must(request->input_tokens <= kMostTokens, "a request fits", request->user);
  const std::string fence = request->user.substr(0, request->user.find('\n'));
  const std::size_t second = request->user.find(fence, 1);
  must(second != std::string::npos && request->user.find(fence, second + 1) == std::string::npos, "there are two fences", request->user);
}

void answer(std::string_view body) {
  const auto read = opinion::read_answer(body);
  if (!read.ok()) return must(!read.error().detail.empty(), "a fault says why", body);
  must(read->reason.size() <= opinion::kMostReasonBytes + 3 && read->evidence.size() <= opinion::kMostQuotes, "an answer is bounded", body);
  const auto run = opinion::read_document(kRun, "r");
  const auto checked = opinion::with_checked_quotes(*read, *run);
  must(checked.verdict == read->verdict || checked.verdict == opinion::OpinionVerdict::unclear, "quotes turn nothing round", body);
  for (const opinion::Quote& quote : checked.evidence)
    must(!opinion::texts_at(*run, quote.pointer).empty(), "evidence points at the run", body);
  must(check_json(opinion::to_model_answer(checked, "x/1", 1).evidence_json, 3).ok(), "evidence is kept as JSON", body);
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {
      std::string("r") + std::string(kRun),
      R"(r{"userRequestText":"a\n[/steps/1] b","metadata":{"model":"m","inputTokens":5},"steps":[{"stepKind":"user","outputSummary":"x"},{"stepKind":"tool",)"
      R"("stepName":"t","inputSummary":{"a":[1]},"outputSummary":"","retryCount":3},{"stepKind":"tool","stepName":"t","status":"failed"}]})",
      R"(a{"choices":[{"message":{"content":"{\"verdict\":\"present\",\"reason\":\"because\",\"evidence\":[{\"pointer\":\"/steps/0/errorMessage\",)"
      R"(\"quote\":\"502 ... Gateway\"}]}"}}],"usage":{"total_tokens":12}})",
      R"(a{"choices":[{"message":{"content":"<think>{</think>```json\n{\"verdict\":\"absent\",\"reason\":\"r\",\"evidence\":[{\"pointer\":\"/steps/1\",\"quote\":\"| all)"
      R"( […3 characters left out…] it\"}"},"finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":2}})",
  };
}

std::vector<std::string> fuzz_words() {
  auto words = json_words();
  for (const char* word : {"\\\"", "\\n", "verdict", "present", "absent", "evidence", "pointer", "/steps/", "[…", "…]", "...", "=== ", "| ",
                           "</think>", "```"})
    words.emplace_back(word);
  return words;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  text[0] == 'r' ? show(text.substr(1)) : answer(text.substr(1));
  return 0;
}

}  // namespace runwarden::test
