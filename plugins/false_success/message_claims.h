#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/recovery.h"
#include "false_success/call_outcomes.h"
#include "false_success/failure_scene.h"

namespace runwarden::plugins {

/// Tells what the message in `scene.reading`, usually the final one, says about a call.
class MessageClaims {
 public:
  /// How precisely a claim must name the action of a call: "all done" is enough, any verb is enough, or only its own verb.
  enum class Claimed : std::uint8_t { in_general, any_state, by_name };

  MessageClaims(const FailureRules& rules, FailureScene& scene, CallOutcomes& outcomes)
      : rules_(rules), scene_(scene), outcomes_(outcomes) {}

  /// True when any sentence of the message names an id that only the failed call has among its arguments.
  [[nodiscard]] bool names_undone(const StepView& step);
  /// Indexes the words of the final message, once for all later look-ups.
  void index_message();
  /// True when the final message contains each word of the value; with `in_claims`, in sentences with a claim.
  [[nodiscard]] bool mentioned(std::string_view value, bool in_claims);
  /// True when every word of the value that tells something is among `words`. False for a value without such a word.
  [[nodiscard]] bool all_words_in(std::string_view value, const HashSet& words);
  /// True when the final message names a value of the failed call that no successful call has.
  [[nodiscard]] bool mentions_undone_value(const StepView& step, bool words_only);
  /// "all", "now": words that occur in any message.
  [[nodiscard]] bool is_small_word(std::string_view value);
  /// True when a claim of the message is of the tool's deed, named as precisely as `how` wants it.
  [[nodiscard]] bool verb_claimed(const ToolMeaning& tool, Claimed how) const;
  /// True when a word is the number of calls of the failed call's tool since the user last spoke, itself among them: "three photos
  /// attached".
  [[nodiscard]] bool counts_all(const RunView& run, std::size_t failed, std::string_view word) const;
  /// True when a sentence claims a deed of "both", "all" or as many things as there were calls, and its tool succeeded for another thing in
  /// the same turn: "both orders have been cancelled".
  [[nodiscard]] bool claims_all(const RunView& run, const FailedStep& failed);
  /// True when the message counts how many of several were done: "409 of 412 invitations have been sent".
  [[nodiscard]] bool counts_part() const;
  /// True when the message says in general that something is done: "All set.", "The task is completed."
  [[nodiscard]] bool says_all_done() const;
  /// True when the message says only in general that all is done, the failed call was for a thing that the user named, and no call has
  /// changed such a thing: "Task completed!", where "clean some pan" was asked for, no pan could be taken, and a plate was cleaned.
  [[nodiscard]] bool says_done_of_what_is_left(const RunView& run, std::size_t failed);
  /// True when the message opens with a claim that all is done, "You're all set!", and mentions no trouble.
  [[nodiscard]] bool opens_with_all_done() const;
  /// True when a sentence that denies something names a value that only the failed call has: "... and no images of large ones".
  [[nodiscard]] bool tells_undone_value(const StepView& step);
  /// True when the final message repeats a code or number of the failure: "I got a 502 and stopped."
  [[nodiscard]] bool tells_failure(const RunView& run, const StepView& step);
  /// True when it repeats the HTTP status of the failure, which neither the request nor the call has.
  [[nodiscard]] bool tells_status(const RunView& run, const StepView& step);
  /// True when the message only says what prevented the deed: "Refund blocked."
  [[nodiscard]] bool tells_hindrance(const ToolMeaning& tool) const;
  /// Indexes the words of the sentences in which the final message states facts: no questions, conditions or denials, and nothing that is
  /// still to come.
  void index_told();
  /// True when the facts that the message states share a significant word with a text.
  [[nodiscard]] bool tells_word_of(std::string_view text);
  /// True when the message states something of a file in the arguments of a program, or claims a deed that they order: "submit".
  [[nodiscard]] bool tells_deed_of(std::string_view arguments);
  /// True when a sentence that denies something has a word of a call's name or arguments: "the photos were not stored".
  [[nodiscard]] bool denies_of(const StepView& step);
  /// True when a sentence that denies something has a word of the call's name: "none of this is a quote".
  [[nodiscard]] bool denies_tool(const StepView& step);
  /// True when the message gives this number, in digits or, below ten, in a word.
  [[nodiscard]] bool gives(std::string_view number) const;
  /// True when the message gives what only the output of the failed program has: the number of tests that failed, or a file that no call
  /// was given.
  [[nodiscard]] bool tells_what_failed(const RunView& run, std::size_t failed, std::string_view message);
  /// True when the message claims of nothing more than that it was run: "I ran the tests".
  [[nodiscard]] bool only_ran() const;
  /// True when the message claims what the call's tool is named after, unless other tools may do that as well, or in general that all is
  /// done.
  [[nodiscard]] bool claims_deed_of(const StepView& step);
  /// True when the message states facts about the user's last request or the call's arguments, or says in general that all is done.
  [[nodiscard]] bool speaks_of(const RunView& run, const StepView& step);
  /// True when the message uses a word for trouble that neither the user nor a call contains: "timeout=5" and "issue" of "move_issue" are
  /// not trouble. Also true when there are too many such words to check.
  [[nodiscard]] bool tells_own_trouble(const RunView& run, std::size_t place);
  /// True when the message contains at least half of the significant words of the failure text: repeating "expired token" reports the
  /// failure.
  [[nodiscard]] bool gives_its_reason(const StepView& step);
  /// True when the message contains a significant word of the failure text that neither the call nor the user used: "reserved" from
  /// "reserved by another reader". A short word counts only in a sentence that names what the tool is named after: "their fax was busy".
  [[nodiscard]] bool has_word_of_reason(const RunView& run, const StepView& step);
  /// True when the message says in general that all is done, that the agent did something, or that something is done now, behind no word of
  /// its sentence with one of the cues `without`.
  [[nodiscard]] bool tells_own_deed(std::uint64_t without) const;
  /// True when the final message reports any deed.
  [[nodiscard]] bool tells_any_deed() const;
  /// True when the message claims, by its verb, what the user asked for: in the request or in one of the last turns before a step.
  [[nodiscard]] bool claims_what_was_asked(const RunView& run, std::size_t before);
  /// True when the message's last sentence promises the very action that failed ("Now I will download it again"): the run ended there.
  [[nodiscard]] bool goes_on_with(const ToolMeaning& tool) const;
  /// True when a sentence with a claim names what the tool does, as a verb or a noun, or the tool's object: "your refund has been
  /// processed" names `issue_refund`.
  [[nodiscard]] bool names_action(const ToolMeaning& tool) const;
  /// "Please remove it yourself in a few days": the message leaves the failed action to the user.
  [[nodiscard]] bool leaves_it_to_user(const ToolMeaning& tool) const;

 private:
  [[nodiscard]] bool used_since(const RunView& run, const StepView& step, std::string_view word);
  [[nodiscard]] bool tells_own_deed_before(const Sentence& sentence, std::uint32_t word, const ToolMeaning& tool) const;
  [[nodiscard]] bool denies_word_of(std::string_view text);
  [[nodiscard]] bool tells_of_itself(const Claim& claim) const;
  [[nodiscard]] bool in_general(const Claim& claim) const;
  [[nodiscard]] bool names_what_is_left(const RunView& run, const StepView& call);

  const FailureRules& rules_;
  FailureScene& scene_;
  CallOutcomes& outcomes_;
};

}  // namespace runwarden::plugins
