#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "evidence/disclaimers.h"
#include "evidence/support.h"
#include "evidence/unheard.h"
#include "false_success/call_outcomes.h"
#include "false_success/failure_scene.h"
#include "false_success/made_good.h"
#include "false_success/message_claims.h"
#include "false_success/passed_over.h"

namespace runwarden::plugins {

/// Finds answers for which no call gave a source.
class UnsupportedAnswer {
 public:
  UnsupportedAnswer(const FailureRules& rules, FailureScene& scene, CallOutcomes& outcomes, MessageClaims& claims, MadeGood& made_good,
                    PassedOver& passed_over)
      : rules_(rules),
        scene_(scene),
        outcomes_(outcomes),
        claims_(claims),
        made_good_(made_good),
        passed_over_(passed_over),
        disclaimers_(rules.disclaimers),
        support_(rules.lexicon) {}

  /// A plain answer ("FINAL ANSWER: 41.20") whose values occur nowhere in the run, after the look-up or calculation for them failed.
  void find_unsupported_answer(const RunView& run, const FinalMessage& message, Verdict& verdict);
  /// "Acme has no unpaid invoices", "none were found": a look-up that failed is told as one that found nothing.
  void find_claimed_absence(const RunView& run, const FinalMessage& message, Verdict& verdict);
  /// Several unsupported figures in a message that admits that their source failed: weak evidence, but a candidate.
  void find_told_anyway(const RunView& run, const FinalMessage& message, Verdict& verdict);
  /// True when a look-up returned all figures of the message that neither the request nor its arguments have, beside its error: the message
  /// rests on what it did return.
  [[nodiscard]] bool gave_answer(const StepView& step, std::string_view request, const FinalMessage& message);
  /// True when a call returned data that the message may be based on.
  [[nodiscard]] bool given_by_others(const RunView& run, const FinalMessage& message);

 private:
  /// What a message states: its unsupported values, whether the user asked for one of them, and whether any call returned data.
  struct Answer {
    const Unsupported& values;
    bool asked_for;
    bool given;
  };

  [[nodiscard]] const FailedStep* open_source(const RunView& run, std::size_t end);
  [[nodiscard]] bool collect_support(const RunView& run, const FinalMessage& message, std::size_t end);
  [[nodiscard]] bool is_asked_for(const RunView& run, const Unsupported& answer, std::size_t end);
  [[nodiscard]] bool answers_for_failed(const RunView& run, const FailedStep& failed, std::size_t end);
  [[nodiscard]] static bool states_result(std::string_view text, const std::vector<double>& results);
  [[nodiscard]] bool tells_news(const RunView& run, const FinalMessage& message, std::size_t end, std::size_t fewest_names);
  [[nodiscard]] bool names_trouble(std::string_view answer);
  [[nodiscard]] bool has_no_source(const RunView& run, std::size_t end) const;
  [[nodiscard]] bool is_worked_out(const RunView& run, const FinalMessage& message, std::string_view answer);
  [[nodiscard]] bool draws_on_own_knowledge(const RunView& run, std::size_t failed, const FinalMessage& message);
  [[nodiscard]] bool given_since(const RunView& run, std::size_t failed, std::size_t end) const;
  [[nodiscard]] double answer_confidence(const RunView& run, const FailedStep& gap, const FinalMessage& message, const Answer& told);
  [[nodiscard]] bool gives_data(const RunView& run, std::size_t step);

  const FailureRules& rules_;
  FailureScene& scene_;
  CallOutcomes& outcomes_;
  MessageClaims& claims_;
  MadeGood& made_good_;
  PassedOver& passed_over_;
  Disclaimers disclaimers_;
  Unheard unheard_;
  Support support_;
};

}  // namespace runwarden::plugins
