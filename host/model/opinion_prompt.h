// The prompts for asking a model about a detector's results, and the texts of the failures that its answers create: config/prompts. Values;
// any thread once read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/verdict.h"

namespace runwarden::model {

// Shared by all detectors: how the model is to read and answer.
struct OpinionFrame {
  std::string version;
  std::string role;    // the model's role and its input; begins the system message
  std::string data;    // says that the run is untrusted data; {fence} is replaced by the request's fence
  std::string answer;  // how to answer
};

struct OpinionPrompt {
  std::string detector_key;
  std::string version;
  std::string question;
  std::vector<std::string> present;
  std::vector<std::string> absent;
  std::vector<std::string> unclear;

  // For the failure that a confirmed candidate becomes. {step} in the title is replaced by the name of its step.
  struct FailureText {
    std::string title;
    std::string title_of_run;  // if it is about no step
    Severity severity = Severity::high;
    Source source = Source::tool;
    int score = 0;
  };
  FailureText failure;
};

struct OpinionPrompts {
  OpinionFrame frame;
  std::vector<OpinionPrompt> prompts;  // by detector key

  const OpinionPrompt* find(std::string_view detector_key) const;  // null: no prompt for that detector
};

// "false_success/1 frame/1": identifies the question that an answer belongs to.
std::string prompt_version(const OpinionFrame& frame, const OpinionPrompt& prompt);

}  // namespace runwarden::model
