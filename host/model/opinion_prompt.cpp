#include "model/opinion_prompt.h"

#include <algorithm>

namespace runwarden::model {

const OpinionPrompt* OpinionPrompts::find(std::string_view detector_key) const {
  const auto found = std::find_if(prompts.begin(), prompts.end(), [&](const auto& one) { return one.detector_key == detector_key; });
  return found == prompts.end() ? nullptr : &*found;
}

std::string prompt_version(const OpinionFrame& frame, const OpinionPrompt& prompt) {
  return prompt.version + " " + frame.version;
}

}  // namespace runwarden::model
