// What a model is asked for a detector, and what the failure says that its answer makes: config/prompts. Values; any thread once read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/verdict.h"

namespace runwarden::model {

// The same for every detector: how the model is to read and to answer.
struct OpinionFrame {
  std::string version;
  std::string role;    // who it is and what it gets; the system message begins with it
  std::string data;    // that the run is a stranger's data; {fence} in it is the fence of the request
  std::string answer;  // how to answer
};

struct OpinionPrompt {
  std::string detector_key;
  std::string version;
  std::string question;
  std::vector<std::string> present;
  std::vector<std::string> absent;
  std::vector<std::string> unclear;

  // Of the failure that a confirmed candidate becomes. {step} in the title is the name of the step that it is about.
  struct FailureText {
    std::string title;
    std::string title_of_run;  // where it is about no step
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

// "false_success/1 frame/1": which question an answer was given to.
std::string prompt_version(const OpinionFrame& frame, const OpinionPrompt& prompt);

}  // namespace runwarden::model
