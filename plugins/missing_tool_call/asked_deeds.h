#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/findings.h"
#include "common/verdict.h"
#include "missing_tool_call/deed_scene.h"

namespace runwarden::plugins {

/// Tells what the user asked for, and which request a claim in `scene.reading` answers.
class AskedDeeds {
 public:
  static constexpr int kNoToolScore = 80;
  static constexpr int kNoWriteScore = 72;

  /// What the user had asked for before a message that reports a deed.
  struct Order {
    /// Nothing, something on a condition, something else, or the deed itself.
    enum Match : std::uint8_t { kNone, kConditional, kOther, kSame };
    Match match = kNone;
    const Request* request = nullptr;
    bool agreed = false;        // the message answers a turn that agrees to what the agent proposed
    std::string_view silenced;  // the rule that discarded such a request; empty for none
  };

  AskedDeeds(const DeedRules& rules, DeedScene& scene) : rules_(rules), scene_(scene) {}

  /// The request that a claim answers, including text work; nullptr for none.
  [[nodiscard]] const Request* request_for(const Claim& claim) const;
  /// True when such a claim answers the request: for an open verb, the claim must report a deed, not a state.
  [[nodiscard]] bool counts(const Request& request, const Claim& claim) const;
  /// The first request that the claim answers and that is neither text work nor make-believe. Sets `rule` to what suppressed the others.
  [[nodiscard]] const Request* real_request_for(const Claim& claim, const RunView& run, const AgentMessage& said, std::string_view& rule);
  /// The first real request for any action; with `open`, requests with open verbs count, too.
  [[nodiscard]] const Request* any_request(bool open, const RunView& run, const AgentMessage& said, std::string_view& rule);
  /// True for a request of a user turn after the message.
  [[nodiscard]] static bool is_later(const Request& request, const AgentMessage& said);
  /// True for a request that is neither text work nor make-believe; otherwise sets `rule` to what suppresses it.
  [[nodiscard]] bool is_real(const Request& request, const RunView& run, const AgentMessage& said, std::string_view& rule);
  /// True where a rule has taken what is told for a text that was asked for, or for a game.
  [[nodiscard]] static bool is_talk(const Verdict& verdict);
  /// True when the user asked for any action.
  [[nodiscard]] bool asks_for_any() const;
  /// "I've initiated the process for your refund" and "your refund request has been submitted" claim the refund if the user asked for one.
  void resolve_light_verbs();
  /// True when the user asked for an action of `request_verbs`.
  [[nodiscard]] bool asks_for_listed() const;
  /// What is reported of a request that the message claims as done, with the score of a run without tools or without changes.
  [[nodiscard]] Finding finding(const RunView& run, const Request& request, const AgentMessage& said, int score) const;
  /// True when a user turn mentions text or code: the user may have asked for a written-out call.
  [[nodiscard]] bool asks_for_text(const RunView& run);
  /// True when the message answers a user turn that agrees to what the agent proposed to do.
  [[nodiscard]] bool agreed_before(const RunView& run, const AgentMessage& said) const;
  /// The order before a message that fits the claim best; kNone when there is none.
  [[nodiscard]] Order order_before(const RunView& run, const AgentMessage& said, const Claim& claim);
  /// The request that a deed answers; a request made from the deed itself when nobody asked for it.
  [[nodiscard]] static Request meant(const Order& order, const Claim& claim);
  /// True when a user turn names the deed itself as done: "just tell me you've escalated this".
  [[nodiscard]] bool user_names(const RunView& run, const Claim& claim);
  /// True when the user reports the same about himself: "I've turned it off", and later a summary, "Turned it off".
  [[nodiscard]] bool done_by_user(const RunView& run, const Claim& claim);
  /// True when a user turn names the verb: "how much did we capture?" and "we captured 275", which is on record.
  [[nodiscard]] bool user_asked_about(const RunView& run, const Claim& claim);
  /// True when the claim may be one of a text that the user gave: "translate: I have cancelled it".
  [[nodiscard]] bool in_given_text(const RunView& run, const Claim& claim);
  /// True for a turn that gives the agent a text to work on, "translate: ...", where no tool ran: what is in it is asked by nobody.
  [[nodiscard]] bool gives_text(std::string_view turn) const { return !scene_.ran.any && !scene_.requests.given_text(turn).empty(); }
  /// True when the agent says in a later message that a deed of this verb, which it told at a step, was not done.
  [[nodiscard]] bool is_taken_back(const RunView& run, std::size_t step, std::uint16_t verb) const;
  /// "I've initiated a search", "I've told you": deeds that need no tool.
  [[nodiscard]] bool needs_no_tool(const Claim& claim) const;
  /// Where the exchange of a user's turn begins: behind what the agent said before it. Some recorders write calls down before the turn that
  /// they answer.
  [[nodiscard]] static std::size_t begin_of(const RunView& run, std::size_t turn);

 private:
  [[nodiscard]] bool names_seen_file(const RunView& run, const AgentMessage& said);
  [[nodiscard]] bool is_text_work(const Request& request, const RunView& run, const AgentMessage& said);
  [[nodiscard]] bool agrees(const RunView& run, std::size_t turn) const;
  void read_user(const RunView& run);
  void read_given(const RunView& run);

  const DeedRules& rules_;
  DeedScene& scene_;
};

}  // namespace runwarden::plugins
