#include "opinion/request.h"

#include <algorithm>
#include <utility>

#include "base/digest.h"
#include "base/json_text.h"
#include "opinion/marked_text.h"
#include "opinion/tokens.h"

namespace runwarden::opinion {
namespace {

constexpr std::string_view kFencePlace = "{fence}";
constexpr std::size_t kFenceDigits = 24;
constexpr std::size_t kServerTokens = 150;      // for what the server adds around messages, and for the schema if it counts that
constexpr std::size_t kSuspicionSixths = 1800;  // maximum of the detector's reason
constexpr std::string_view kSchema =
    R"({"type":"object","properties":{"verdict":{"type":"string","enum":["present","absent","unclear"]},"reason":{"type":"string"},)"
    R"("evidence":{"type":"array","items":{"type":"object","properties":{"pointer":{"type":"string"},"quote":{"type":"string"}},)"
    R"("required":["pointer","quote"],"additionalProperties":false}}},"required":["verdict","reason","evidence"],"additionalProperties":false})";

std::string fence_with(const std::string& digits) {
  return "=== " + digits + " ===";
}
std::string fence_of(std::string_view nonce, std::size_t attempt) {
  return fence_with(to_hex(sha256(std::string(nonce) + " " + std::to_string(attempt))).substr(0, kFenceDigits));
}

std::string with_fence(std::string text, const std::string& fence) {
  for (std::size_t at = text.find(kFencePlace); at != std::string::npos; at = text.find(kFencePlace, at + fence.size())) {
    text.replace(at, kFencePlace.size(), fence);
  }
  return text;
}

void append_cases(std::string& out, std::string_view verdict, const std::vector<std::string>& cases) {
  out.append("\n\n\"").append(verdict).append("\" if:");
  for (const std::string& one : cases) out.append("\n- ").append(one);
}

std::string system_text(const model::OpinionFrame& frame, const model::OpinionPrompt& prompt, const std::string& fence) {
  std::string out = frame.role + "\n\n" + with_fence(frame.data, fence) + "\n\nQuestion: " + prompt.question;
  append_cases(out, "present", prompt.present);
  append_cases(out, "absent", prompt.absent);
  append_cases(out, "unclear", prompt.unclear);
  return out.append("\n\n").append(frame.answer);
}

// The detector's reason. It quotes the run, so it goes inside the fence as well.
std::string suspicion_of(const Question& question) {
  std::string out = "The program's suspicion: ";
  append_marked(out, question.opinion.reason, kSuspicionSixths);
  out += '\n';
  const auto& steps = question.run.steps;
  const auto found = std::find_if(steps.begin(), steps.end(), [&](const model::Step& one) {
    return !question.focus.primary_step_id.empty() && one.id == question.focus.primary_step_id;
  });
  if (found != steps.end()) out.append("It is about /steps/").append(std::to_string(found - steps.begin())).append(".\n");
  return out;
}

std::string opening(const std::string& fence) {
  return fence + "\n";
}
std::string closing(const model::OpinionPrompt& prompt, const std::string& fence) {
  return fence + "\n\nThat was the run. " + prompt.question + " Answer with the JSON object.";
}

// Without the run; assumes the fence with the most tokens.
std::size_t prompt_tokens(const model::OpinionFrame& frame, const model::OpinionPrompt& prompt) {
  const std::string fence = fence_with(std::string(kFenceDigits, '0'));
  return estimated_tokens(system_text(frame, prompt, fence)) + estimated_tokens(opening(fence)) + estimated_tokens(closing(prompt, fence)) +
         kServerTokens;
}

std::string body_of(const Request& request, const RequestSettings& settings) {
  std::string text;
  JsonWriter out(text);
  const auto message = [&](const char* role, const std::string& content) {
    out.begin_object().key("role").string(role).key("content").string(content).end_object();
  };
  out.begin_object().key("model").string(settings.model).key("messages").begin_array();
  message("system", request.system);
  message("user", request.user);
  out.end_array().key("temperature").integer(0).key("max_tokens").integer(static_cast<std::int64_t>(settings.max_output_tokens));
  if (settings.format == AnswerFormat::json_schema) {
    out.key("response_format").begin_object().key("type").string("json_schema").key("json_schema").begin_object();
    out.key("name").string("second_opinion").key("strict").boolean(true).key("schema").raw(kSchema).end_object().end_object();
  }
  out.end_object();
  return text;
}

}  // namespace

Result<Request> make_request(const Question& question, const RequestSettings& settings, std::string_view nonce) {
  const std::string suspicion = suspicion_of(question);
  const std::size_t around = prompt_tokens(question.frame, question.prompt);
  if (settings.max_input_tokens < around + kFewestRunTokens) {
    return Error{Code::validation_failed,
                 "second_opinion.max_input_tokens " + std::to_string(settings.max_input_tokens) + " has no room for the prompt of " +
                     question.prompt.detector_key + " (" + std::to_string(around) + " tokens) and a run; set it to " +
                     std::to_string(around + kFewestRunTokens) + " or more",
                 {},
                 {}};
  }
  const std::size_t room = settings.max_input_tokens - around;
  const RunText run = write_run(question.run, question.focus, room - std::min(room, estimated_tokens(suspicion)));
  const std::string data = suspicion + run.text;
  std::string fence = fence_of(nonce, 0);
  for (std::size_t attempt = 1; data.find(fence) != std::string::npos; ++attempt) fence = fence_of(nonce, attempt);
  Request request;
  request.system = system_text(question.frame, question.prompt, fence);
  request.user = opening(fence) + data + closing(question.prompt, fence);
  request.body = body_of(request, settings);
  request.input_tokens = estimated_tokens(request.system) + estimated_tokens(request.user) + kServerTokens;
  request.whole_run = run.whole();
  return request;
}

std::size_t fewest_input_tokens(const model::OpinionPrompts& prompts) {
  std::size_t most = 0;
  for (const model::OpinionPrompt& prompt : prompts.prompts) most = std::max(most, prompt_tokens(prompts.frame, prompt));
  return most + kFewestRunTokens;
}

}  // namespace runwarden::opinion
