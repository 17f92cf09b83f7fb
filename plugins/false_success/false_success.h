#pragma once

#include <functional>
#include <memory>
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
#include "false_success/told_failures.h"
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

  /// A call that may not have done what it was for, and a message that may say that it did.
  struct Doubt {
    FailedStep failed;
    FinalMessage message;
    std::size_t messages_after = 0;
    bool left_open = false;  // the message owns up to something, or leaves it to others or for later
    bool tells = false;      // it tells a deed
    bool offers = false;     // it asks the user what to do
    bool found = false;      // a rule is sure that it claims what failed
  };
  /// Passes on what is in doubt, with what is known of it in measures(). Returns true when a rule is sure.
  bool visit_doubts(const RunView& run, const std::function<void(const Doubt&)>& take);
  [[nodiscard]] const Measures& measures() const { return measures_; }
  /// After visit_doubts(): the call that a rule is sure of once all calls that read as undone count as failed; or kNoStep.
  [[nodiscard]] std::size_t found_as_read(const RunView& run);
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
  void drop_unread(const RunView& run, Verdict& verdict);
  [[nodiscard]] bool judge(const RunView& run, Verdict& verdict);
  [[nodiscard]] bool judge_outcomes(const RunView& run, Verdict& verdict);
  void drop_answered(const RunView& run, const FinalMessage& message, Verdict& verdict);
  void judge_without_failure(const RunView& run, const FinalMessage& message, Verdict& verdict);
  void find_passed_over(const RunView& run, const FinalMessage& message, Verdict& verdict);
  [[nodiscard]] double confidence(const RunView& run, const FailedStep& failed, const FinalMessage& message);
  [[nodiscard]] bool tells_trouble_beside(const RunView& run) const;
  [[nodiscard]] double confidence_by_words(const RunView& run, const FailedStep& failed, const FinalMessage& message);
  [[nodiscard]] bool made_good(const RunView& run, const FailedStep& failed);
  [[nodiscard]] bool stands(const RunView& run, const FailedStep& failed, const FinalMessage& message, Judging& judging);
  [[nodiscard]] bool fires_for(const RunView& run, const FailedStep& failed, const FinalMessage& message, Judging& judging);
  void judge_failures(const RunView& run, const FinalMessage& message, Verdict& verdict);

  // Learned weights, for cases where no rule is sure: weighed.cpp
  /// A message behind calls that may have failed, and the exchange that it ends.
  struct Exchange {
    const RunView& run;  // up to the message
    const RunView& whole;
    const Verdict& verdict;
    std::span<const std::size_t> made_good;  // calls that failed, and were made good since
    std::size_t begin = 0;
    std::size_t messages_after = 0;
  };
  [[nodiscard]] bool is_repeated(const RunView& run, std::size_t step) const;
  void collect_unsure(const RunView& run, std::size_t begin, std::size_t end);
  [[nodiscard]] bool message_tells();
  [[nodiscard]] std::vector<std::size_t> collect_made_good(const RunView& run);
  [[nodiscard]] std::size_t first_in_doubt(const RunView& run, std::size_t begin, std::size_t end);
  [[nodiscard]] bool may_be_in_doubt(const Exchange& exchange);
  [[nodiscard]] bool may_have_failed(const RunView& run, std::size_t begin, std::size_t end);
  [[nodiscard]] std::vector<FailedStep> doubtful(const Exchange& exchange, bool tells) const;
  void visit_exchange(const Exchange& exchange, const std::function<void(const Doubt&)>& take);
  void visit_all(const RunView& run, const Verdict& verdict, const std::function<void(const Doubt&)>& take);
  void measure_failure(const RunView& run, const FailedStep& failed);
  void measure_calls_around(const RunView& run, std::size_t failed);
  void measure_telling(const RunView& run, const FailedStep& failed, const FinalMessage& message);
  void measure_shared(const RunView& run, std::size_t failed, const FinalMessage& message);
  [[nodiscard]] Verdict judge_as_read(const RunView& run);
  void weigh(const RunView& run, Verdict& verdict);

  std::shared_ptr<const FailureRules> rules_held_;
  const FailureRules& rules_ = *rules_held_;
  FailureScene scene_{rules_};
  CallOutcomes outcomes_{rules_, scene_};
  MessageClaims claims_{rules_, scene_, outcomes_};
  MadeGood made_good_{rules_, scene_, outcomes_, claims_};
  PassedOver passed_over_{rules_, scene_, outcomes_, claims_, made_good_};
  UnsupportedAnswer unsupported_{rules_, scene_, outcomes_, claims_, made_good_, passed_over_};
  ToldFailures told_failures_{rules_, scene_, outcomes_};
  Measures measures_;
  Measures shared_;                  // the measures of shared words that were read last
  bool shared_of_known_ = false;     // for this message, and no other call than those that are known to have failed
  std::vector<Failure> failures_;    // of the whole run, by step
  std::vector<std::size_t> unsure_;  // calls whose output may say that nothing was changed
  std::vector<float> undone_;        // how likely the output of each step says so; below 0: not read
  std::size_t outputs_to_read_ = 0;
  std::size_t last_owned_up_ = kNoStep;  // of the exchange being measured
};

}  // namespace runwarden::plugins
