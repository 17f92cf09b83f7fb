#include "intake/step_rules.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace runwarden::intake {
namespace {

bool same(std::string_view text, std::string_view lower_word) {
  return std::equal(text.begin(), text.end(), lower_word.begin(), lower_word.end(), [](char a, char b) { return ascii::to_lower(a) == b; });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return text.substr(0, 0);
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

template <std::size_t N>
bool any_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return same(text, word); });
}

constexpr std::array<std::string_view, 4> kToolKinds{"tool", "function", "action", "tool_call"};
constexpr std::array<std::string_view, 7> kModelKinds{"model", "llm", "assistant", "chat", "completion", "generation", "model_output"};
constexpr std::array<std::string_view, 3> kUserKinds{"user", "user_request", "human"};
constexpr std::array<std::string_view, 11> kFailed{"failed",  "failure",   "error",    "errored",  "timed_out", "timeout",
                                                   "blocked", "cancelled", "canceled", "rejected", "denied"};
constexpr std::array<std::string_view, 9> kFine{"completed", "complete", "success",  "succeeded", "successful",
                                                "ok",        "done",     "finished", "passed"};

}  // namespace

model::StepKind step_kind(std::string_view text) {
  text = trimmed(text);
  if (any_of(text, kToolKinds)) return model::StepKind::tool;
  if (any_of(text, kModelKinds)) return model::StepKind::model;
  if (any_of(text, kUserKinds)) return model::StepKind::user;
  return model::StepKind::other;
}

model::Outcome status_outcome(std::string_view status) {
  status = trimmed(status);
  if (any_of(status, kFailed)) return model::Outcome::failed;
  return any_of(status, kFine) ? model::Outcome::ok : model::Outcome::unknown;
}

bool is_no_error(std::string_view error_code) {
  error_code = trimmed(error_code);
  return error_code.empty() || error_code == "0" || same(error_code, "ok") || same(error_code, "none");
}

}  // namespace runwarden::intake
