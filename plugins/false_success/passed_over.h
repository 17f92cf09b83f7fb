#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "evidence/odd_one.h"
#include "false_success/call_outcomes.h"
#include "false_success/failure_scene.h"
#include "false_success/made_good.h"
#include "false_success/message_claims.h"

namespace runwarden::plugins {

/// Finds failures that the message does not mention.
class PassedOver {
 public:
  PassedOver(const FailureRules& rules, FailureScene& scene, CallOutcomes& outcomes, MessageClaims& claims, MadeGood& made_good)
      : rules_(rules),
        scene_(scene),
        outcomes_(outcomes),
        claims_(claims),
        made_good_(made_good),
        passing_reports_(rules.passing_reports) {}

  /// True when the failed call was the last one and the only one of its kind, and the message closes the request: it speaks of the request,
  /// and no sentence denies anything or leaves anything open.
  [[nodiscard]] bool closes_behind(const RunView& run, const FailedStep& failed, const FinalMessage& message);
  /// The same of a call for one deed, which the message claims or somebody may miss: not a metric that was recorded beside it.
  [[nodiscard]] bool closes_behind_deed(const RunView& run, const FailedStep& failed, const FinalMessage& message);
  /// True when the agent went on to other deeds after a deed failed, never tried it again, and its message speaks of it without a word of
  /// trouble: agents that stop at a failure tend to say so.
  [[nodiscard]] bool went_on(const RunView& run, const FailedStep& failed, const FinalMessage& message);
  /// True when a sentence that reports a deed names, by its id, the object of a failed look-up, and no later call returned that id: the
  /// agent cannot act on something that it did not find.
  [[nodiscard]] bool claims_thing_of(const RunView& run, const FailedStep& failed);
  /// A failure that was not made good and that the agent's last message, which admits nothing, does not mention. A candidate, or more if
  /// the message speaks of the very thing that failed.
  void find_untold_failure(const RunView& run, const FinalMessage& message, Verdict& verdict);
  /// A figure, date, time or code that only a failed change was given, stated in the last message as a fact: "ingest-worker went from 4 to
  /// 12 replicas".
  void find_stated_value(const RunView& run, const FinalMessage& message, Verdict& verdict);
  /// The last tests that ran failed, and the message says that they pass. Reads the outputs from the last on, up to those of tests.
  void find_failed_tests(const RunView& run, const FinalMessage& message, Verdict& verdict);
  /// A file of which the message reports a deed ("saved to may.csv"), although every call that names it failed and no other call may have
  /// changed anything since.
  void find_unmade_file(const RunView& run, const FinalMessage& message, Verdict& verdict);
  /// A call that succeeded for all but some of several things, while the final message speaks of those as of the others.
  void find_partly_failed(const RunView& run, const FinalMessage& message, Verdict& verdict);
  /// "Which of the three is cheapest?": an answer that leaves out the one about which nothing is known.
  void find_left_out(const RunView& run, const FinalMessage& message, Verdict& verdict);
  /// A reported deed on things that no look-up found: there was nothing to act on.
  void find_deed_on_nothing(const RunView& run, const FinalMessage& message, Verdict& verdict);
  /// Trouble that a call reports in prose and the final message does not mention: weaker evidence, but a candidate.
  void find_untold_trouble(const RunView& run, const FinalMessage& message, Verdict& verdict);

 private:
  [[nodiscard]] bool states_any(const std::vector<Fact>& given);
  void strike_known(const RunView& run, std::size_t failed, std::size_t end, std::vector<Fact>& given);
  struct Untold {
    FailedStep failed;
    FinalMessage message;
    double sure = 0;
  };
  struct Parts {
    std::vector<OddRow> odd;
    bool counted = false;
    std::size_t all = 0;                     // things that are counted
    std::vector<std::string_view> counting;  // tools whose later calls counted
  };

  [[nodiscard]] bool is_missed(const RunView& run, const StepView& step, const FinalMessage& message);
  [[nodiscard]] bool tells_of_undone(const StepView& step);
  [[nodiscard]] bool told_apart(const RunView& run, const StepView& step);
  [[nodiscard]] bool names_any_of(std::string_view input, const std::vector<CallValue>& values);
  [[nodiscard]] bool named_by_done(const RunView& run, std::string_view word) const;
  [[nodiscard]] bool alone_to_change(const RunView& run, const StepView& step);
  [[nodiscard]] bool changes_by_command(const StepView& step) const;
  [[nodiscard]] bool may_be_deed(const StepView& step);
  [[nodiscard]] bool took_over(const StepView& step, const StepView& later, const std::vector<CallValue>& values);
  [[nodiscard]] bool tells_of_all(const RunView& run, const StepView& step);
  [[nodiscard]] bool ticks_off(const StepView& step, std::string_view message);
  [[nodiscard]] double passed_over(const RunView& run, const FailedStep& failed, const FinalMessage& message);
  [[nodiscard]] bool doubted_after(const RunView& run, std::size_t step);
  [[nodiscard]] static FinalMessage told_at_once(const RunView& run, std::size_t step, const FinalMessage& message);
  [[nodiscard]] bool called_again(const RunView& run, const FailedStep& failed, std::size_t end);
  [[nodiscard]] Untold untold(const RunView& run, const FailedStep& failed, const FinalMessage& message);
  void collect_aliases(const RunView& run, std::string_view id, std::size_t end, std::vector<std::string_view>& names) const;
  [[nodiscard]] bool tells_number(std::size_t all) const;
  [[nodiscard]] bool tells_of_row(const RunView& run, const OddRow& row, std::size_t end);
  [[nodiscard]] bool read_parts(const StepView& step, Parts& parts);
  [[nodiscard]] bool passes_over(const RunView& run, std::size_t at, const Parts& parts);
  [[nodiscard]] bool counts_it_in(const RunView& run, const FailedStep& failed);
  [[nodiscard]] bool leaves_out(const RunView& run, const FailedStep& failed, std::string_view turn);
  [[nodiscard]] const FailedStep* only_failed_for(const RunView& run, std::string_view file, std::size_t end);
  [[nodiscard]] bool claims_in_sentence_with(std::string_view file);
  [[nodiscard]] std::size_t found_nothing(const RunView& run, std::size_t end);
  [[nodiscard]] bool asks_to_know(const RunView& run);
  [[nodiscard]] std::size_t last_trouble(const RunView& run);
  [[nodiscard]] bool tells_plain_trouble() const;
  [[nodiscard]] bool reports_deed(const StepView& step);
  [[nodiscard]] bool shows_again(const RunView& run, std::size_t at);
  [[nodiscard]] bool contrasts() const;
  [[nodiscard]] bool ends_undone(const RunView& run, std::size_t at);
  [[nodiscard]] static bool is_table(std::string_view output);
  [[nodiscard]] bool passes_over_trouble(const RunView& run, std::size_t at);
  [[nodiscard]] bool reports_undone(const RunView& run, std::size_t at) const;
  [[nodiscard]] bool only_repeats(std::string_view input);
  [[nodiscard]] bool tells_its_deed(const StepView& step);

  const FailureRules& rules_;
  FailureScene& scene_;
  CallOutcomes& outcomes_;
  MessageClaims& claims_;
  MadeGood& made_good_;
  Phrases passing_reports_;
};

}  // namespace runwarden::plugins
