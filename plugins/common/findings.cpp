#include "common/findings.h"

#include <algorithm>
#include <charconv>

#include "common/inner_output.h"
#include "text/fold.h"

namespace runwarden::plugins {

Failure failure_of(const StepView& step, const ContentRules& rules) {
  ShortSign sign;
  return failure_of(step, rules, sign);
}

Failure failure_of(const StepView& step, const ContentRules& rules, ShortSign& sign) {
  sign = ShortSign::kNone;
  if (step.kind == Kind::kUser) return Failure::kNone;
  if (step.outcome == Outcome::kFailed) return Failure::kHard;
  if (step.kind != Kind::kTool || !present(step.output)) return Failure::kNone;
  const auto fails = [&](std::string_view output) {
    if (is_soft_failure(output, rules)) return true;
    sign = rules.short_signs.read(output);
    return is_short_failure({step.name, step.input, output}, sign, rules);
  };
  if (fails(step.output)) return Failure::kSoft;
  const auto said = sign;
  std::string buffer;
  const auto news = only_news(step.input, step.output, buffer);
  if (!news.empty() && fails(news)) return Failure::kSoft;
  sign = said;
  return Failure::kNone;
}

std::string pointer_to(std::size_t step, Field field) {
  static constexpr const char* kNames[] = {"stepName",           "status",        "errorCode",  "errorMessage",
                                           "inputSummary",       "outputSummary", "retryCount", "metadata/inputTokens",
                                           "metadata/httpStatus"};
  return "/steps/" + std::to_string(step) + "/" + kNames[static_cast<std::size_t>(field)];
}

std::string quote(std::string_view text) {
  return std::string(trim(cut(trim(text))));
}

std::string_view step_name(const StepView& step) {
  const auto name = trim(step.name);
  return cut(name.empty() ? step.id : name);
}

Evidence failure_evidence(const RunView& run, std::size_t step) {
  return {pointer_to(step, failure_field(run.steps[step])), quote(failure_text(run.steps[step]))};
}

std::string two_decimals(double value) {
  char text[340];  // the largest double has 309 digits before the point
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 2).ptr};  // in any locale, unlike printf
}

namespace {

/// The last message that equals the outcome, except for white space at the ends; kNoStep when there is none.
std::size_t place_of(const RunView& run, std::string_view outcome) {
  for (auto i = run.steps.size(); i-- > 0;) {
    if (run.steps[i].kind == Kind::kModel && trim(run.steps[i].output) == trim(outcome)) return i;
  }
  return kNoStep;
}

}  // namespace

FinalMessage find_final_message(const RunView& run, const Lexicon& lexicon, Reading& reading) {
  FinalMessage last;
  FinalMessage candidate;
  const auto take = [&](std::string_view text, std::size_t step) {
    if (trim(text).empty()) return false;
    candidate = {text, step, step, true};
    read(text, lexicon, reading);
    if (!last.found) last = candidate;
    return !is_goodbye(reading);
  };
  if (take(run.outcome, kNoStep)) {
    candidate.place = place_of(run, run.outcome);
    return candidate;
  }
  for (std::size_t i = run.steps.size(); i-- > 0;) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kModel || trim(step.output) == trim(run.outcome)) continue;
    if (take(step.output, i)) return candidate;
  }
  if (last.found) read(last.text, lexicon, reading);
  return last;
}

std::vector<FinalMessage> told_messages(const RunView& run) {
  std::vector<FinalMessage> out;
  if (!trim(run.outcome).empty()) out.push_back({run.outcome, kNoStep, place_of(run, run.outcome), true});
  bool told = out.empty();
  bool user_follows = false;  // a call in front of a user's turn answers it: some recorders write calls down first
  for (auto i = run.steps.size(); i-- > 0;) {
    const auto& step = run.steps[i];
    if (step.kind == Kind::kTool) told &= user_follows;
    if (step.kind != Kind::kTool) user_follows = step.kind == Kind::kUser;
    told |= step.kind == Kind::kUser;
    if (step.kind != Kind::kModel || !told || trim(step.output).empty()) continue;
    if (trim(step.output) != trim(run.outcome)) out.push_back({step.output, i, i, true});
    told = false;
  }
  return out;
}

bool user_replied(const RunView& run, std::size_t step, std::size_t end) {
  bool spoke = false;
  for (auto i = step + 1; i < std::min(end, run.steps.size()); ++i) {
    const auto& later = run.steps[i];
    if (spoke && later.kind == Kind::kUser) return true;
    spoke |= later.kind == Kind::kModel && !trim(later.output).empty();
  }
  return false;
}

std::size_t message_before(const RunView& run, const FinalMessage& message) {
  for (auto i = std::min(message.place, run.steps.size()); i-- > 0;) {
    const auto& said = run.steps[i];
    if (said.kind == Kind::kModel && !trim(said.output).empty() && trim(said.output) != trim(message.text)) return i;
  }
  return kNoStep;
}

}  // namespace runwarden::plugins
