#pragma once

#include <string>
#include <string_view>

#include "common/content.h"
#include "common/reading.h"
#include "common/run_view.h"
#include "common/verdict.h"

namespace runwarden::plugins {

enum class Failure : std::uint8_t { kNone, kSoft, kHard };

/// Whether a step failed, and whether the record says so (hard) or only its output (soft, tool steps only).
[[nodiscard]] Failure failure_of(const StepView& step, const ContentRules& rules);

/// "/steps/3/errorMessage".
[[nodiscard]] std::string pointer_to(std::size_t step, Field field);

/// A text in quotes of a summary: white space at the ends off, cut at 160 characters.
[[nodiscard]] std::string quote(std::string_view text);

/// What a person calls a step: its name, else its id.
[[nodiscard]] std::string_view step_name(const StepView& step);

/// The evidence of a failed step: what it reported, and where that stands.
[[nodiscard]] Evidence failure_evidence(const RunView& run, std::size_t step);

/// A number of dollars with two decimals.
[[nodiscard]] std::string two_decimals(double value);

/// What the agent last told the user: `outcomeSummary`, else the last model output; when that is a goodbye, the message before it.
struct FinalMessage {
  std::string_view text;
  std::size_t step = kNoStep;  // kNoStep for outcomeSummary
  std::size_t place = kNoStep;  // the step that it was said in: of an outcome that repeats a message, that message; else kNoStep, the end
  bool found = false;

  [[nodiscard]] std::string pointer() const { return step == kNoStep ? "/outcomeSummary" : pointer_to(step, Field::kOutput); }
};

/// Finds it and leaves its reading in `reading`.
[[nodiscard]] FinalMessage find_final_message(const RunView& run, const Lexicon& lexicon, Reading& reading);

/// True when the user spoke after the agent had said something, between a step and an end. Linear.
[[nodiscard]] bool user_replied(const RunView& run, std::size_t step, std::size_t end);

/// The step in which the agent last said something else before a message; kNoStep where it did not. Linear.
[[nodiscard]] std::size_t message_before(const RunView& run, const FinalMessage& message);

}  // namespace runwarden::plugins
