// The request to a model for its opinion: a chat-completions body as OpenAI-compatible servers take it. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/opinion.h"
#include "model/opinion_prompt.h"
#include "model/run.h"
#include "opinion/run_text.h"

namespace runwarden::opinion {

enum class AnswerFormat { json_schema, none };  // none: for servers that refuse response_format

struct RequestSettings {
  std::string model;
  std::size_t max_input_tokens = 8000;
  std::size_t max_output_tokens = 800;
  AnswerFormat format = AnswerFormat::json_schema;
};

struct Question {
  const model::OpinionFrame& frame;
  const model::OpinionPrompt& prompt;
  const model::Opinion& opinion;  // its reason is told, its primary step is looked at
  const model::Run& run;
  Focus focus;
};

struct Request {
  std::string system;
  std::string user;
  std::string body;              // with both as its messages
  std::size_t input_tokens = 0;  // estimated
  bool whole_run = true;         // nothing of the run was left out
};

// `nonce`: random bytes of this request, at least 16; the fence around the run is made of them, and never is in the run.
// `validation_failed` where max_input_tokens has no room for the prompt and kFewestRunTokens of the run.
Result<Request> make_request(const Question& question, const RequestSettings& settings, std::string_view nonce);

constexpr std::size_t kFewestRunTokens = 1000;
// The least max_input_tokens that every one of the prompts can be asked with.
std::size_t fewest_input_tokens(const model::OpinionPrompts& prompts);

}  // namespace runwarden::opinion
