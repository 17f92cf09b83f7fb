#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "false_success/call_outcomes.h"
#include "false_success/failure_scene.h"
#include "false_success/message_claims.h"

namespace runwarden::plugins {

/// Tells whether a failure was made good, or admitted to the user.
class MadeGood {
 public:
  /// A rule that suppresses a failure, and the reason in words.
  struct Silence {
    std::string_view rule;
    std::string_view reason;
  };

  MadeGood(const FailureRules& rules, FailureScene& scene, CallOutcomes& outcomes, MessageClaims& claims)
      : rules_(rules), scene_(scene), outcomes_(outcomes), claims_(claims) {}

  /// True for a retry of a failed write whose own arguments change nothing (the new item is the old one), although the failed call meant a
  /// change. Whatever it answered, it did not do what was asked for.
  [[nodiscard]] bool is_no_op_retry(const RunView& run, std::size_t step);
  /// Marks the failures of the scene that a later call made good. Walks backward: each is compared only with what came after it.
  void mark_recovered(const RunView& run);
  /// True when the agent admitted the failure and the same tool then succeeded, before the user spoke again: the call was corrected,
  /// whatever its new arguments are.
  [[nodiscard]] bool corrected_after_telling(const RunView& run, const FailedStep& failed);
  /// True when the agent admitted the failure to the user after the step, and the user answered.
  [[nodiscard]] bool user_was_told(const RunView& run, std::size_t step);
  /// True when the user said, after the agent had told them of the failure or asked something, that they did it themselves, and nothing
  /// was called since.
  [[nodiscard]] bool done_by_user_since(const RunView& run, std::size_t failed);
  /// True when the agent admitted the failure in a model step after this one.
  [[nodiscard]] bool owned_up_after(const RunView& run, std::size_t step) { return last_owned_up(run, step) != kNoStep; }
  /// The last model step after this one in which it did, or kNoStep. Linear in what the agent said since.
  [[nodiscard]] std::size_t last_owned_up(const RunView& run, std::size_t step);
  /// True when the agent says after a call, and before the next one, that it looked something up by hand.
  [[nodiscard]] bool looked_up_by_hand_after(const RunView& run, std::size_t step);
  /// True when a failure says that something is already so: {"error": "already_muted"}.
  [[nodiscard]] bool says_already(const StepView& step);
  /// True when a later call of the same tool succeeded with all values of this call, or longer forms of them: "Ann" became "ann@x.com".
  [[nodiscard]] bool went_through_later(const RunView& run, const FailedStep& failed);
  /// True when the output of a later look-up contains a value of the failed call that no successful call has: the agent may have found
  /// another name for it, "A. Marsh" for "Ann".
  [[nodiscard]] bool looked_up_since(const RunView& run, std::size_t failed);
  /// True when the failure names one of the call's own values, and the user spoke before the call was repeated: "which bedroom?"
  [[nodiscard]] bool chosen_by_user_since(const RunView& run, std::size_t failed);
  /// True when later calls of the same turn did between them what the failed one was for: one was given the same text ("by SMS instead"),
  /// or two of different tools have all of its values ("cancel it and book anew").
  [[nodiscard]] bool done_in_parts(const RunView& run, std::size_t failed);
  /// True when the message in the scene denies what the call was to do: "actually, it isn't cancelled yet".
  [[nodiscard]] bool takes_back(const StepView& step) const;
  /// True when the message in the scene leaves what the call was to do for when something else is so: "once the system is back, it will be
  /// cancelled".
  [[nodiscard]] bool depends_on_condition(const StepView& step) const;
  /// The rule that suppresses an open failure because of what happened or was said, with its reason; nullopt when the failure remains.
  [[nodiscard]] std::optional<Silence> silence(const RunView& run, const FailedStep& failed, const FinalMessage& message);
  /// True when the list contains a later call of the same tool about the same thing: that call decides how it ended.
  [[nodiscard]] bool repeated_in(const RunView& run, const FailedStep& failed, const std::vector<std::size_t>& settled);

 private:
  [[nodiscard]] bool is_of_another_deed(const ToolMeaning& tool) const;
  [[nodiscard]] const StepView* last_failed_call(const RunView& run, std::size_t step) const;
  [[nodiscard]] bool claims_deed_of(const StepView& step) const;
  [[nodiscard]] bool is_one_of_many(const RunView& run, std::size_t at);
  [[nodiscard]] bool is_command_left_undone(const RunView& run, std::size_t at);
  [[nodiscard]] bool artifact_there(const RunView& run, const FailedStep& failed, const FinalMessage& message);
  [[nodiscard]] bool shows_removal(const RunView& run, std::size_t failed);
  [[nodiscard]] bool answered_elsewhere(const RunView& run, const FailedStep& failed, const FinalMessage& message);
  [[nodiscard]] bool worked_out_by_hand(const StepView& step, const FinalMessage& message);
  [[nodiscard]] bool asks_about_findings() const;
  [[nodiscard]] bool already_so(const StepView& step);
  [[nodiscard]] bool denies_action(std::string_view name) const;
  [[nodiscard]] bool trouble_told(const StepView& step, const FinalMessage& message);
  [[nodiscard]] bool done_by_other_means(const RunView& run, const FailedStep& failed);
  [[nodiscard]] bool shown_since(const RunView& run, std::size_t failed);
  [[nodiscard]] bool reported_since(const RunView& run, std::size_t failed);
  [[nodiscard]] bool confirmed_since(const RunView& run, std::size_t failed);
  [[nodiscard]] bool was_given_values(const StepView& call);
  [[nodiscard]] bool went_through_before(const RunView& run, std::size_t failed);
  [[nodiscard]] std::vector<std::string_view> telling_sentences() const;
  [[nodiscard]] bool told_by_calls(const RunView& run, const FinalMessage& message);
  [[nodiscard]] bool quotes_given(const RunView& run, std::size_t failed);
  [[nodiscard]] std::size_t count_denials(const ToolMeaning& tool, std::uint8_t forms) const;
  [[nodiscard]] bool denies_as_often(const RunView& run, const FailedStep& failed);
  [[nodiscard]] bool leaves_for_later(const ToolMeaning& tool) const;
  [[nodiscard]] bool repeated_in_form(const RunView& run, std::size_t failed);
  [[nodiscard]] bool rerun_with_more(const RunView& run, std::size_t failed);
  [[nodiscard]] bool went_on_with_given(const RunView& run, std::size_t failed);

  const FailureRules& rules_;
  FailureScene& scene_;
  CallOutcomes& outcomes_;
  MessageClaims& claims_;
};

}  // namespace runwarden::plugins
