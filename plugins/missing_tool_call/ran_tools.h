#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "missing_tool_call/deed_scene.h"

namespace runwarden::plugins {

/// Tells what the tools that ran could have done. What it finds is in `scene.ran`.
/// One owner, one thread at a time, as all that works on a scene.
class RanTools {
 public:
  RanTools(const DeedRules& rules, DeedScene& scene) : rules_(rules), scene_(scene) {}

  /// Fills `scene.ran` for a run, and forgets what was read of the run before. Linear in the size of the run.
  void collect(const RunView& run);
  /// True when a tool that ran may have done what is claimed: by its verb, or by the thing it works on ("your return has been submitted"
  /// and "return_items"). For sending verbs only the words after the verb count: the thing sent differs from the thing that it is about.
  [[nodiscard]] bool could_have(const Claim& claim) const;
  /// True when no tool ran between a user's turn and a message of the agent.
  [[nodiscard]] static bool nothing_ran_between(const RunView& run, std::size_t turn, std::size_t message);
  /// True when a tool that ran does what is claimed, or said that it did.
  [[nodiscard]] bool did_it(const Claim& claim) const;
  /// True when the user turn of the request also asks for something that a call did.
  [[nodiscard]] bool asked_with_done(const Request& request) const;

 private:
  void add_told_deeds(std::string_view output);
  void add_flagged_deeds(std::string_view output);
  void add_ordered_deeds(std::string_view input);
  void add_commanded_deed(std::string_view input);
  void add_member_deeds(std::string_view output);
  [[nodiscard]] std::uint16_t told_of_user(const Sentence& sentence) const;
  void add_named_action(std::string_view tool);
  /// False for a call that only looks something up: by its tool's name, by all that the tool gave back in the run, or by the commands that
  /// it ran.
  [[nodiscard]] bool may_change(const RunView& run, const ToolMeaning& tool, const StepView& call);
  [[nodiscard]] bool only_gives_records(const RunView& run, const ToolMeaning& tool, std::string_view name);

  const DeedRules& rules_;
  DeedScene& scene_;
};

}  // namespace runwarden::plugins
