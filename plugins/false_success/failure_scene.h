#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "common/facts.h"
#include "common/reading.h"
#include "common/recovery.h"
#include "evidence/origin.h"
#include "evidence/support.h"
#include "false_success/failure_rules.h"

namespace runwarden::plugins {

struct FailedStep {
  std::size_t step;
  Failure failure;
  bool recovered;
  std::size_t told = kNoStep;  // a later look-up that told of the failure
};

/// What is known of the run under evaluation, and scratch memory kept between runs. One owner, one thread at a time.
struct FailureScene {
  explicit FailureScene(const FailureRules& rules) : recovery(rules.lexicon, rules.content.tools), later(rules.lexicon) {}

  /// Forgets what was indexed of the message in `reading`.
  void forget_message() {
    indexed = false;
    figures.reset();
    told_by_calls.reset();
    later_from = kNoStep;
  }

  /// True for a call that is no look-up.
  [[nodiscard]] bool may_change(const StepView& step) { return step.kind == Kind::kTool && !recovery.meaning(step.name).reads; }

  Recovery recovery;

  // The calls
  std::vector<FailedStep> failed;               // in the order of their steps
  std::vector<Failure> failures;                // by step, including soft failures
  std::unordered_set<std::size_t> followed_up;  // calls that a look-up asked about
  std::optional<std::size_t> told_waiting;      // the last step that told of waiting, found on first use
  HashSet done_values;                          // values in successful calls that write
  HashSet done_words;                           // the words of those values
  std::optional<HashSet> asked_words;           // of the request, read on first use
  HashSet done_groups;                          // verb groups of those calls
  std::size_t last_done = kNoStep;              // the last of those calls

  // The message
  Reading reading;                           // of the final message, or of the message judged in its place
  std::size_t told_place = 0;                // of that message, as FinalMessage has it
  bool flag_only = false;                    // only `success: true` claims success
  bool indexed = false;                      // said and claimed are filled
  HashSet said;                              // words of the message
  HashSet claimed;                           // words of its sentences that contain a claim
  HashSet told;                              // words of its sentences that state facts
  std::optional<std::vector<Fact>> figures;  // of that message, found on first use; views into it or told_ends
  std::optional<bool> told_by_calls;         // calls answered with what that message reports, found on first use
  std::string told_ends;                     // the message without its middle, where it is long
  Support later;                             // outputs of calls from later_from on
  WordOrigins origins;                       // the same outputs, by words
  std::size_t later_from = kNoStep;          // kNoStep: not collected yet
  std::size_t later_bytes = 0;

  // Scratch
  Reading scratch;
  std::string folded;
  std::string folded_value;
  std::string folded_call;
  std::vector<CallValue> values;
  std::vector<std::string_view> artifacts;
};

}  // namespace runwarden::plugins
