// The request for a model's opinion: a chat completions body for OpenAI-compatible servers. Pure; any thread.
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
  const model::Opinion& opinion;  // its reason is included, its primary step is the focus
  const model::Run& run;
  Focus focus;
};

struct Request {
  std::string system;
  std::string user;
  std::string body;              // contains both as messages
  std::size_t input_tokens = 0;  // estimated
  bool whole_run = true;         // nothing of the run was left out
};

// `nonce`: at least 16 random bytes for this request. The fence around the run is made from them and never occurs in the run.
// `validation_failed` if max_input_tokens has no room for the prompt and kFewestRunTokens of the run.
Result<Request> make_request(const Question& question, const RequestSettings& settings, std::string_view nonce);

constexpr std::size_t kFewestRunTokens = 1000;
// The smallest max_input_tokens that works for every prompt.
std::size_t fewest_input_tokens(const model::OpinionPrompts& prompts);

}  // namespace runwarden::opinion
