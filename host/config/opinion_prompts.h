// Reads the prompts for a model's second opinion. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/opinion_prompt.h"

namespace runwarden::config {

// The frame or prompt in `yaml`, or every fault found in it. Faults refer to the text as `file`.
Result<model::OpinionFrame> read_opinion_frame(std::string_view yaml, const std::string& file);
Result<model::OpinionPrompt> read_opinion_prompt(std::string_view yaml, const std::string& file);

// config/prompts, built in. Throws std::logic_error if one cannot be read; a test makes sure that all can.
const model::OpinionPrompts& built_in_opinion_prompts();

}  // namespace runwarden::config
