// Reads what a model is asked for its second opinion. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/opinion_prompt.h"

namespace runwarden::config {

// The frame, or the prompt, in `yaml`, or every fault found in it. `file` is what faults call the text.
Result<model::OpinionFrame> read_opinion_frame(std::string_view yaml, const std::string& file);
Result<model::OpinionPrompt> read_opinion_prompt(std::string_view yaml, const std::string& file);

// config/prompts, built in. Throws std::logic_error where one of them cannot be read, which a test keeps from happening.
const model::OpinionPrompts& built_in_opinion_prompts();

}  // namespace runwarden::config
