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

// Those of tools, models and users, in this order.
constexpr std::array<std::string_view, 14> kKinds{"tool", "function",   "action",     "tool_call",    "model", "llm",          "assistant",
                                                  "chat", "completion", "generation", "model_output", "user",  "user_request", "human"};
constexpr std::size_t kToolKinds = 4, kModelKinds = 7;
// Those of failure, then those of success.
constexpr std::array<std::string_view, 20> kStatuses{"failed",    "failure",    "error",    "errored", "timed_out", "timeout",  "blocked",
                                                     "cancelled", "canceled",   "rejected", "denied",  "completed", "complete", "success",
                                                     "succeeded", "successful", "ok",       "done",    "finished",  "passed"};
constexpr std::size_t kFailed = 11;

bool any_of(std::string_view text, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return same(text, word); });
}

}  // namespace

model::StepKind step_kind(std::string_view text) {
  text = trimmed(text);
  const std::span<const std::string_view> words = kKinds;
  if (any_of(text, words.first(kToolKinds))) return model::StepKind::tool;
  if (any_of(text, words.subspan(kToolKinds, kModelKinds))) return model::StepKind::model;
  if (any_of(text, words.subspan(kToolKinds + kModelKinds))) return model::StepKind::user;
  return model::StepKind::other;
}

std::span<const std::string_view> step_kind_words() {
  return kKinds;
}

std::span<const std::string_view> status_words() {
  return kStatuses;
}

model::Outcome status_outcome(std::string_view status) {
  status = trimmed(status);
  const std::span<const std::string_view> words = kStatuses;
  if (any_of(status, words.first(kFailed))) return model::Outcome::failed;
  return any_of(status, words.subspan(kFailed)) ? model::Outcome::ok : model::Outcome::unknown;
}

bool is_no_error(std::string_view error_code) {
  error_code = trimmed(error_code);
  return error_code.empty() || error_code == "0" || same(error_code, "ok") || same(error_code, "none");
}

}  // namespace runwarden::intake
