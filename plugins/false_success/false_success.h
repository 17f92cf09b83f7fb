#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/findings.h"
#include "common/recovery.h"
#include "common/settings.h"
#include "evidence/confidence.h"

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
    bool recovered;
  };

  void collect_failures(const RunView& run);
  void mark_recovered(const RunView& run);
  [[nodiscard]] bool gave_something(const RunView& run, std::size_t step) const;
  [[nodiscard]] bool is_no_op_retry(const RunView& run, std::size_t step);
  [[nodiscard]] const StepView* last_failed_call(const RunView& run, std::size_t step) const;
  void collect_done(const RunView& run);
  void judge_failures(const RunView& run, const FinalMessage& message, Verdict& verdict);
  [[nodiscard]] FinalMessage standing_claim(const RunView& run, const FailedStep& failed);
  [[nodiscard]] FinalMessage claim_after(const RunView& run, std::size_t step, const ToolMeaning& tool, bool any_verb);
  [[nodiscard]] FinalMessage claim_after_no_op(const RunView& run, const FailedStep& failed);
  void find_standing_claims(const RunView& run, Verdict& verdict);
  [[nodiscard]] bool user_was_told(const RunView& run, std::size_t step);
  [[nodiscard]] bool owned_up_after(const RunView& run, std::size_t step);
  [[nodiscard]] bool claims_success(const RunView& run, const FinalMessage& message, Verdict& verdict);
  [[nodiscard]] bool corrected_after_telling(const RunView& run, const FailedStep& failed);
  [[nodiscard]] bool tells_undone_value(const StepView& step);
  [[nodiscard]] bool artifact_there(const RunView& run, const FailedStep& failed, const FinalMessage& message);
  [[nodiscard]] bool names_action(const ToolMeaning& tool) const;
  [[nodiscard]] double confidence(const StepView& step, const FinalMessage& message);
  [[nodiscard]] bool concerns(const RunView& run, const FailedStep& failed);
  [[nodiscard]] bool mentions_undone_value(const StepView& step, bool words_only);
  [[nodiscard]] bool mentioned(std::string_view value, bool in_claims);
  void index_message();
  /// How a claim must name what a call was for: "all done" will do, any word of a deed will do, only its own verb will do.
  enum class Claimed : std::uint8_t { in_general, any_state, by_name };
  [[nodiscard]] bool verb_claimed(const ToolMeaning& tool, Claimed how) const;
  [[nodiscard]] bool hard_word_in(const StepView& step);
  [[nodiscard]] Finding finding(const RunView& run, const FailedStep& failed, const FinalMessage& message);

  Lexicon lexicon_;
  ContentRules content_;
  FiringLine line_{{}};
  std::vector<std::string> read_prefixes_;
  std::vector<std::string> hard_words_;
  bool soft_failures_;
  bool admission_;
  bool recovery_rule_;
  bool handover_;
  bool plan_;
  bool standing_claim_;
  bool no_claim_;
  bool unrelated_claim_;
  bool contradiction_;
  bool no_op_retry_;
  std::uint16_t finish_group_ = 0;
  Recovery recovery_;
  Reading reading_;
  std::string folded_;
  std::vector<FailedStep> failed_;
  std::vector<Failure> failures_;  // by step, soft ones too
  std::vector<CallValue> values_;
  std::vector<std::string_view> artifacts_;
  bool flag_only_ = false;  // nothing but success: true claims
  bool indexed_ = false;
  HashSet said_;                     // words of the final message
  HashSet claimed_;                  // words of its sentences with a claim
  HashSet done_values_;              // of calls that wrote and succeeded
  HashSet done_groups_;              // verb groups of those calls
  std::size_t last_done_ = kNoStep;  // the last of those calls
};

}  // namespace runwarden::plugins
