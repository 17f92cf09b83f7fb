#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/findings.h"
#include "evidence/measures.h"
#include "false_success/call_outcomes.h"
#include "false_success/failure_rules.h"
#include "false_success/failure_scene.h"
#include "false_success/made_good.h"
#include "false_success/message_claims.h"
#include "false_success/passed_over.h"
#include "false_success/unsupported_answer.h"

namespace runwarden::plugins {

/// Finds runs in which a step failed but the agent reported success to the user.
/// One owner, one thread at a time: keeps scratch memory between runs.
class FalseSuccess {
 public:
  static constexpr std::string_view kKey = "false_success";
  static constexpr std::string_view kTitle = "False success";

  explicit FalseSuccess(std::string_view settings_json);
  FalseSuccess(const FalseSuccess&) = delete;  // its parts refer to each other
  FalseSuccess& operator=(const FalseSuccess&) = delete;

  [[nodiscard]] static std::string schema();

  [[nodiscard]] Verdict evaluate(const RunView& run);

  /// The inputs to the weights in the last evaluation; valid only if weighed().
  [[nodiscard]] const Measures& measures() const { return measures_; }
  [[nodiscard]] bool weighed() const { return weighed_; }
  /// The names of the measures that the weights were trained on, in order.
  [[nodiscard]] static std::span<const std::string_view> weights_of();

 private:
  /// The verdict so far, and the failures that a rule explains.
  struct Judging {
    static constexpr std::size_t kMostSettled = 16;
    void settle(std::size_t step) {
      if (settled.size() < kMostSettled) settled.push_back(step);
    }
    Verdict& verdict;
    std::vector<std::size_t> settled = {};
    double cap = 1.0;      // on the confidence of the failure being judged
    bool went_on = false;  // the agent went on to other deeds behind it
  };

  // Whether the final message claims what failed: false_success.cpp
  [[nodiscard]] bool claims_all_done(const RunView& run, const FailedStep& failed) const;
  [[nodiscard]] bool concerns(const RunView& run, const FailedStep& failed);
  [[nodiscard]] bool handed_over_after(const RunView& run, std::size_t last_failure) const;
  [[nodiscard]] bool leaves_open(std::size_t last, Verdict& verdict);
  [[nodiscard]] bool claims_success(const RunView& run, const FinalMessage& message, Verdict& verdict);
  [[nodiscard]] FinalMessage standing_claim(const RunView& run, const FailedStep& failed);
  [[nodiscard]] FinalMessage claim_after(const RunView& run, std::size_t step, const ToolMeaning& tool, bool any_verb);
  [[nodiscard]] FinalMessage claim_after_no_op(const RunView& run, const FailedStep& failed);
  void find_standing_claims(const RunView& run, Verdict& verdict);
  [[nodiscard]] bool judge(const RunView& run, Verdict& verdict);
  [[nodiscard]] bool judge_outcomes(const RunView& run, Verdict& verdict);
  void look_again(const RunView& run, Verdict& verdict);
  void judge_without_failure(const RunView& run, const FinalMessage& message, Verdict& verdict);
  void find_passed_over(const RunView& run, const FinalMessage& message, Verdict& verdict);
  [[nodiscard]] double confidence(const RunView& run, const FailedStep& failed, const FinalMessage& message);
  [[nodiscard]] bool tells_trouble_beside(const RunView& run) const;
  [[nodiscard]] double confidence_by_words(const RunView& run, const FailedStep& failed, const FinalMessage& message);
  [[nodiscard]] bool made_good(const RunView& run, const FailedStep& failed);
  [[nodiscard]] bool stands(const RunView& run, const FailedStep& failed, const FinalMessage& message, Judging& judging);
  [[nodiscard]] bool fires_for(const RunView& run, const FailedStep& failed, const FinalMessage& message, Judging& judging);
  void judge_failures(const RunView& run, const FinalMessage& message, Verdict& verdict);

  // What the agent claimed before the user went on to something else: earlier_answers.cpp
  /// An answer of the agent's, and the step where the exchange that it ends begins.
  struct EarlierAnswer {
    std::size_t begin;
    std::size_t step;
  };
  [[nodiscard]] std::vector<EarlierAnswer> earlier_answers(const RunView& run);
  [[nodiscard]] std::vector<std::size_t> left_failed(const RunView& run, const FinalMessage& message);
  void judge_earlier_answers(const RunView& run, Verdict& verdict);

  // Learned weights, for cases where no rule is sure: weighed.cpp
  [[nodiscard]] std::optional<FailedStep> doubtful(const Verdict& verdict) const;
  void measure_failure(const RunView& run, const FailedStep& failed);
  void measure_calls_around(const RunView& run, std::size_t failed);
  void measure_telling(const RunView& run, const FailedStep& failed, const FinalMessage& message);
  void weigh(const RunView& run, Verdict& verdict);

  FailureRules rules_;
  FailureScene scene_{rules_};
  CallOutcomes outcomes_{rules_, scene_};
  MessageClaims claims_{rules_, scene_, outcomes_};
  MadeGood made_good_{rules_, scene_, outcomes_, claims_};
  PassedOver passed_over_{rules_, scene_, outcomes_, claims_, made_good_};
  UnsupportedAnswer unsupported_{rules_, scene_, outcomes_, claims_, passed_over_};
  Measures measures_;
  bool weighed_ = false;
};

}  // namespace runwarden::plugins
