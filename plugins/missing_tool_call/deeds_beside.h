#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "common/verdict.h"
#include "missing_tool_call/asked_deeds.h"
#include "missing_tool_call/call_words.h"
#include "missing_tool_call/deed_scene.h"
#include "missing_tool_call/ran_tools.h"

namespace runwarden::plugins {

/// Judges a deed that the last message reports beside those that calls did.
class DeedsBeside {
 public:
  DeedsBeside(const DeedRules& rules, DeedScene& scene, RanTools& tools_ran, CallWords& call_words, AskedDeeds& asked_deeds)
      : rules_(rules), scene_(scene), tools_ran_(tools_ran), call_words_(call_words), asked_deeds_(asked_deeds) {}

  /// True for a message to be sent that the user asks for while agreeing to what a call has already done, and that may come with it: "yes,
  /// exchange it and mail me the label".
  [[nodiscard]] bool is_notice_of_done(const RunView& run, const Claim& claim, const Request& request, std::size_t message);
  /// True for a message to be sent that a call since the request may carry: whatever its name, the call has a text. Reads the calls once
  /// per run.
  [[nodiscard]] bool may_be_told(const RunView& run, const Claim& claim, const Request& request);
  /// For runs in which other things were changed: judges a deed in the final message that the user asked for and no call was about.
  void judge(const RunView& run, const FinalMessage& message, Verdict& verdict);
  /// The same for the agent's last messages before it, up to one that admits something. Overwrites the reading.
  void judge_earlier(const RunView& run, const FinalMessage& message, Verdict& verdict);

 private:
  using Order = AskedDeeds::Order;

  void judge_message(const RunView& run, const AgentMessage& said, Verdict& verdict);
  void mark_told();
  [[nodiscard]] bool is_accounted_for(const RunView& run, const ToldDeed& deed);
  [[nodiscard]] bool is_left_out(const RunView& run, const AgentMessage& said, const ToldDeed& deed, const Order& order);
  [[nodiscard]] bool ran_anything(const RunView& run);
  [[nodiscard]] bool sends(const Claim& claim) const;
  [[nodiscard]] bool goes_ahead(const Request& request);
  [[nodiscard]] bool spoken_of_before(const RunView& run, const Claim& claim, const Request& request);
  [[nodiscard]] bool answered_since(const RunView& run, const Request& request);
  [[nodiscard]] std::size_t last_untold(const RunView& run);

  const DeedRules& rules_;
  DeedScene& scene_;
  RanTools& tools_ran_;
  CallWords& call_words_;
  AskedDeeds& asked_deeds_;
  std::vector<std::uint8_t> told_;          // by group: 1 when the message tells a deed of it as done
  std::optional<std::size_t> last_untold_;  // the last call that may have changed something and that it tells nothing of
};

}  // namespace runwarden::plugins
