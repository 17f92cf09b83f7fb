#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/content.h"
#include "common/reading.h"
#include "common/run_view.h"
#include "common/verdict.h"

namespace runwarden::plugins {

enum class Failure : std::uint8_t { kNone, kSoft, kHard };

/// Whether a step failed, and whether the record says so (hard) or only its output does (soft, tool steps only).
[[nodiscard]] Failure failure_of(const StepView& step, const ContentRules& rules);

/// The same; for a step without a failure, `sign` is what its output says about the call all the same.
[[nodiscard]] Failure failure_of(const StepView& step, const ContentRules& rules, ShortSign& sign);

/// "/steps/3/errorMessage".
[[nodiscard]] std::string pointer_to(std::size_t step, Field field);

/// A text as quoted in a summary: trimmed, and cut at 160 characters.
[[nodiscard]] std::string quote(std::string_view text);

/// The name that a person uses for a step: its name, else its id.
[[nodiscard]] std::string_view step_name(const StepView& step);

/// The evidence of a failed step: what it reported, and where.
[[nodiscard]] Evidence failure_evidence(const RunView& run, std::size_t step);

/// An amount of dollars with two decimals.
[[nodiscard]] std::string two_decimals(double value);

/// The agent's last message to the user: `outcomeSummary`, else the last model output. When that is a goodbye, the message before
/// it.
struct FinalMessage {
  std::string_view text;
  std::size_t step = kNoStep;   // kNoStep for outcomeSummary
  std::size_t place = kNoStep;  // the step that said it; for an outcome that repeats a message, that message's step; else kNoStep (the end)
  bool found = false;

  [[nodiscard]] std::string pointer() const { return step == kNoStep ? "/outcomeSummary" : pointer_to(step, Field::kOutput); }
};

/// Finds the final message and leaves its reading in `reading`.
[[nodiscard]] FinalMessage find_final_message(const RunView& run, const Lexicon& lexicon, Reading& reading);

/// The messages that the user could answer, without thoughts before a call. Newest first; the outcome, if any, comes first. Linear.
[[nodiscard]] std::vector<FinalMessage> told_messages(const RunView& run);

/// True when, between a step and an end, the user spoke after the agent had said something. Linear.
[[nodiscard]] bool user_replied(const RunView& run, std::size_t step, std::size_t end);

/// The last step before a message in which the agent said something else; kNoStep when there is none. Linear.
[[nodiscard]] std::size_t message_before(const RunView& run, const FinalMessage& message);

}  // namespace runwarden::plugins
