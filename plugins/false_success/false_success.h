#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/findings.h"
#include "common/settings.h"

namespace runwarden::plugins {

/// Finds runs where a step failed and the agent told the user that the thing was done.
/// One owner, one thread at a time: keeps scratch memory between runs.
class FalseSuccess {
 public:
  static constexpr std::string_view kKey = "false_success";
  static constexpr std::string_view kTitle = "False success";

  explicit FalseSuccess(std::string_view settings_json);

  [[nodiscard]] static std::string schema();

  [[nodiscard]] Verdict evaluate(const RunView& run);

 private:
  struct FailedStep {
    std::size_t step;
    Failure failure;
  };

  [[nodiscard]] bool hard_word_in(const StepView& step);
  [[nodiscard]] Finding finding(const RunView& run, const FailedStep& failed, const FinalMessage& message);

  Lexicon lexicon_;
  ContentRules content_;
  std::vector<std::string> hard_words_;
  bool soft_failures_;
  bool admission_;
  Reading reading_;
  std::string folded_;
  std::vector<FailedStep> failed_;
};

}  // namespace runwarden::plugins
