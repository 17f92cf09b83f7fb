#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/findings.h"
#include "common/settings.h"

namespace runwarden::plugins {

/// Finds runs where the user asked for an action, the agent said that it is done, and no tool that could have done it ran.
/// One owner, one thread at a time: keeps scratch memory between runs.
class MissingToolCall {
 public:
  static constexpr std::string_view kKey = "missing_tool_call";
  static constexpr std::string_view kTitle = "Missing tool call";

  explicit MissingToolCall(std::string_view settings_json);

  [[nodiscard]] static std::string schema();

  [[nodiscard]] Verdict evaluate(const RunView& run);

 private:
  /// An action that the user asked for.
  struct Request {
    std::uint16_t verb;
    std::string pointer;
    std::string text;
  };

  void collect_requests(const RunView& run);
  void collect_requests_of(std::string_view text, const std::string& pointer);
  [[nodiscard]] Finding finding(const Request& request, const FinalMessage& message) const;

  Lexicon lexicon_;
  std::vector<bool> requestable_;  // by verb
  Reading reading_;
  std::vector<Request> requests_;
};

}  // namespace runwarden::plugins
