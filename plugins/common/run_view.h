#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace runwarden::plugins {

class ExplanationRecorder;

/// The kind of a step; kOther is a kind that the host does not know.
enum class Kind : std::uint8_t { kTool, kModel, kUser, kOther };

/// What the record itself says about a step; kUnknown when it says nothing.
enum class Outcome : std::uint8_t { kUnknown, kOk, kFailed };

/// A member of a step that a finding can point at.
enum class Field : std::uint8_t { kName, kStatus, kErrorCode, kErrorMessage, kInput, kOutput, kRetryCount, kInputTokens, kHttpStatus };

/// True when the record has the member at all. An empty text is present; an absent one has a null data pointer.
inline bool present(std::string_view text) {
  return text.data() != nullptr;
}

/// One step of a run, as views into the host's memory. Valid as long as the RunView that holds it.
struct StepView {
  Kind kind = Kind::kOther;
  Outcome outcome = Outcome::kUnknown;
  int http_status = 0;
  std::optional<std::int64_t> retry_count;
  std::optional<std::int64_t> input_tokens;
  std::string_view id;
  std::string_view name;
  std::string_view status;
  std::string_view error_code;
  std::string_view error_message;
  std::string_view input;
  std::string_view output;
  std::string_view model;

  /// What a user said in this step: its output, else its input.
  [[nodiscard]] std::string_view said() const { return output.empty() ? input : output; }
};

/// One run as the detectors see it: plain views, independent of the plugin ABI, so every rule can be tested without a host. Valid during
/// one evaluation; used by one thread.
struct RunView {
  std::string_view user_request;
  std::string_view outcome;
  std::string_view model;
  std::optional<bool> success;
  std::optional<double> cost_usd;
  std::optional<std::int64_t> input_tokens;
  std::vector<StepView> steps;
  ExplanationRecorder* explanation = nullptr;  // records how the verdict is reached; null when not requested

  /// Asks the host whether to stop early, about every 64 KiB of text or 256 steps, and throws what `stop` throws. Detectors call it with
  /// the number of bytes that they are about to read.
  void pace(std::size_t bytes) const {
    since_stop += bytes + kStopBytes / 256;
    if (since_stop < kStopBytes) return;
    since_stop = 0;
    if (stop) stop();
  }

  static constexpr std::size_t kStopBytes = 64 * 1024;
  std::function<void()> stop;
  mutable std::size_t since_stop = 0;
};

}  // namespace runwarden::plugins
