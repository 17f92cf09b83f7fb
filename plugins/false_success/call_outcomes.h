#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/findings.h"
#include "evidence/outcome_reader.h"
#include "false_success/failure_scene.h"

namespace runwarden::plugins {

/// Tells which calls of a run failed and which did something. The failures are in the scene.
/// One owner, one thread at a time, as all that works on a scene.
class CallOutcomes {
 public:
  CallOutcomes(const FailureRules& rules, FailureScene& scene)
      : rules_(rules), scene_(scene), refusals_(rules.refusals), reader_(rules.lexicon, rules.content) {}

  /// Fills failed and failures of the scene. Linear in the size of the run.
  void collect(const RunView& run);
  /// After collect(): counts these calls as failed, too.
  void mark_failed(std::span<const std::size_t> steps);
  /// What is reported of a failure that the message claims as done; `message.found` false where only `success: true` claims it.
  [[nodiscard]] Finding finding(const RunView& run, const FailedStep& failed, const FinalMessage& message);
  /// True for a call that succeeded and returned something; a look-up that found nothing did not.
  [[nodiscard]] bool gave_something(const RunView& run, std::size_t step) const;
  /// Collects what the calls that succeeded and changed something did: done_values, done_words, done_groups and last_done of the scene.
  void collect_done(const RunView& run);
  /// True when the same tool succeeded later, if for another thing: "that flight is full", and the next is booked.
  [[nodiscard]] bool worked_after(const RunView& run, std::size_t failed) const;
  /// True when the same tool succeeded in the same turn: a claim may be of that call.
  [[nodiscard]] bool worked_in_turn(const RunView& run, std::size_t failed) const;
  /// True for a program that broke off: its output is short and reports trouble.
  [[nodiscard]] bool broke(const StepView& step, const ToolMeaning& tool);
  /// True for a call that was to change something and gave a short answer in words that reports no deed.
  [[nodiscard]] bool may_refuse_in_words(const StepView& call);
  /// How likely the output of a call that may have changed something says that it did not, 0 to 1; 0 for a look-up. Linear in the call.
  [[nodiscard]] double undone(const RunView& run, std::size_t at);
  /// True for a tool that may provide what the answer states: it looks things up, computes, or runs anything.
  [[nodiscard]] bool is_source(std::string_view tool);

 private:
  /// What the user was told of a call, without the middle of long messages. Views into the run or the buffers.
  struct Told {
    std::string_view own;  // the message after it
    std::string_view any;  // that and the last message
    std::string own_buffer, any_buffer;
  };

  static void set_told(std::string_view own, std::string_view last, Told& out);
  void collect_failures(const RunView& run);
  void find_odd_calls(const RunView& run);
  [[nodiscard]] std::size_t change_asked_about(const RunView& run, std::size_t at, bool failed);
  void find_followed_up(const RunView& run);
  void sort_failed();
  [[nodiscard]] bool opens_page(const StepView& call);
  [[nodiscard]] bool tells_deed_done(std::string_view output);
  [[nodiscard]] bool hard_word_in(const StepView& step);
  [[nodiscard]] bool refuses_in_words(const StepView& step, std::span<const std::uint16_t> groups);
  [[nodiscard]] bool denies_in_words(std::string_view output, std::span<const std::uint16_t> groups);
  [[nodiscard]] bool passes_failure_on(const StepView& step) const;
  [[nodiscard]] bool shows_alert(std::string_view page);
  [[nodiscard]] bool denies_now(const RunView& run, std::size_t at, const StepView& step, const ToolMeaning& tool);
  [[nodiscard]] bool says_all(const RunView& run, std::string_view message);
  [[nodiscard]] bool shows_same_record(const RunView& run, std::size_t at, const ToolMeaning& tool);
  [[nodiscard]] bool answers_undone(const RunView& run, std::size_t at, const Told& told);
  [[nodiscard]] std::size_t last_told_waiting(const RunView& run) const;
  [[nodiscard]] bool waits_untold(const RunView& run, std::size_t at);
  void explain(const RunView& run, std::size_t step, Failure failure);

  const FailureRules& rules_;
  FailureScene& scene_;
  Phrases refusals_;
  OutcomeReader reader_;
};

}  // namespace runwarden::plugins
