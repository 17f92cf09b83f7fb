#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/findings.h"
#include "common/settings.h"

namespace runwarden::plugins {

/// Finds calls whose prompt exceeded the model's input window, and a provider's refusals because of length. One owner, one thread at a
/// time: remembers the models that it has met.
class ContextOverflow {
 public:
  static constexpr std::string_view kKey = "context_overflow";
  static constexpr std::string_view kTitle = "Context overflow";

  explicit ContextOverflow(std::string_view settings_json);

  [[nodiscard]] static std::string schema();

  [[nodiscard]] Verdict evaluate(const RunView& run);

  /// The longest known name that a model's name contains; null when there is none. A name that ends in a version number matches only that
  /// version.
  struct Window {
    std::string name;
    std::int64_t tokens = 0;
  };
  [[nodiscard]] const Window* window_of(std::string_view model);

 private:
  /// What prevented an answer.
  struct Gaps {
    bool counted = false;  // at least one count could be compared
    bool no_model = false;
    bool summed = false;
    bool uncounted_model_step = false;
    std::string unknown_model;
  };

  enum class Refusal { kNone, kOtherLimit, kLength };

  [[nodiscard]] Refusal refusal_in(std::string_view folded) const;
  [[nodiscard]] Refusal refusal_of(const StepView& step);
  bool judge_refusal(const RunView& run, std::size_t step, Verdict& verdict);
  void judge_count(std::size_t step, std::int64_t tokens, std::string_view model, Gaps& gaps, Verdict& verdict);
  void judge_run_count(const RunView& run, bool any_step_count, std::size_t model_steps, Gaps& gaps, Verdict& verdict);

  std::vector<Window> windows_;  // longest name first
  std::vector<std::string> refusals_;
  std::vector<std::string> other_limits_;
  std::bitset<4096> openings_;   // indexed by opening_of() each refusal phrase
  bool short_refusals_ = false;  // some phrase is shorter than four bytes
  bool provider_refusals_;
  bool per_call_;
  std::string folded_;
  std::string spelled_;
  std::unordered_map<std::string, std::size_t> met_;  // model -> index into windows_, or windows_.size()
};

}  // namespace runwarden::plugins
