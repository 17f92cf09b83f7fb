#pragma once

#include <vector>

#include "common/verdict.h"
#include "missing_tool_call/asked_deeds.h"
#include "missing_tool_call/call_words.h"
#include "missing_tool_call/deed_scene.h"
#include "missing_tool_call/ran_tools.h"

namespace runwarden::plugins {

/// Judges the deeds that the agent reports in a run in which no call changed anything.
class UnchangedDeeds {
 public:
  UnchangedDeeds(const DeedRules& rules, DeedScene& scene, RanTools& tools_ran, CallWords& call_words, AskedDeeds& asked_deeds)
      : rules_(rules), scene_(scene), tools_ran_(tools_ran), call_words_(call_words), asked_deeds_(asked_deeds) {}

  /// True for a message in scene.reading that reports no deeds of the agent: it admits, simulates, asks or hands over, or is a letter or
  /// code.
  [[nodiscard]] bool tells_no_deeds(const AgentMessage& said, bool last) const;
  /// For runs in which nothing changed anything: judges the plainest deed that the agent reported to the user.
  void judge(const RunView& run, Verdict& verdict);
  /// The same for one exchange, which begins at step `from`, of a run whose other steps are blank. "All set" counts too: there is no other
  /// exchange that it may be about.
  void judge_exchange(const RunView& run, std::size_t from, Verdict& verdict);

 private:
  using Order = AskedDeeds::Order;

  void judge_from(const RunView& run, std::size_t from, Telling least, Verdict& verdict);
  [[nodiscard]] bool within_document(const Claim& claim) const;
  [[nodiscard]] double confidence(const RunView& run, const ToldDeed& deed, const Order& order);
  [[nodiscard]] bool is_told_of_others(const RunView& run, const AgentMessage& said, const ToldDeed& deed, Order::Match match);
  [[nodiscard]] bool tells_trouble_from(std::uint32_t sentence) const;
  [[nodiscard]] bool closes_clean() const;

  const DeedRules& rules_;
  DeedScene& scene_;
  RanTools& tools_ran_;
  CallWords& call_words_;
  AskedDeeds& asked_deeds_;
};

}  // namespace runwarden::plugins
