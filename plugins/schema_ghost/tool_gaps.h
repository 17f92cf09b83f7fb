#pragma once

#include <cstddef>
#include <string_view>

#include "schema_ghost/ghost_scene.h"

namespace runwarden::plugins {

/// Tells which tool steps returned nothing, and which of them were not meant to return anything.
/// One owner, one thread at a time, as all that works on a scene.
class ToolGaps {
 public:
  using Hollow = GhostScene::Hollow;

  ToolGaps(const GhostRules& rules, GhostScene& scene) : rules_(rules), scene_(scene) {}

  /// True when a tool step failed or returned nothing.
  [[nodiscard]] bool gave_nothing(const StepView& step) const;
  /// "The result is garbled, so I rely on my own knowledge": the agent itself says that this output gave it nothing.
  [[nodiscard]] bool disowned(const RunView& run, std::size_t step);
  /// True when a tool's output before a step is truncated. Called only when a specific is found nowhere else.
  [[nodiscard]] bool record_is_cut(const RunView& run, std::size_t step);
  /// True when a truncated output before the step has the letters with which an id begins, or the id begins with a digit: the rest of the
  /// output may have held it.
  [[nodiscard]] bool may_be_cut_off(const RunView& run, std::size_t step, std::string_view value);
  /// True when a tool showed the model a picture before a step. Called only when a specific is found nowhere else.
  [[nodiscard]] bool picture_shown(const RunView& run, std::size_t step);
  /// True for a call whose silence means nothing: the tool never returns anything, or the command only arranges files.
  [[nodiscard]] bool silent_by_design(const StepView& step);
  /// The number of bytes that tools returned before a step.
  [[nodiscard]] std::size_t given_before(const RunView& run, std::size_t step) const;
  /// A tool that was called several times and never returned anything is silent by design; so is one that only stores thoughts.
  void learn_design(const RunView& run);
  /// True for a tool whose name says that it acts: it is not called for data.
  [[nodiscard]] bool only_acts(std::string_view tool);
  /// True when two calls of one tool name different things, such as the slots of two days: what the one returned is not about the other.
  [[nodiscard]] bool of_another_object(const StepView& one, const StepView& other);
  /// The open gap after a tool step: a new one, the old one, or none when the step made it good.
  [[nodiscard]] Hollow after_tool(const RunView& run, std::size_t step, Hollow hollow);

 private:
  [[nodiscard]] bool only_thinks(std::string_view tool) const;
  [[nodiscard]] bool asks_anything(const StepView& step);

  const GhostRules& rules_;
  GhostScene& scene_;
};

}  // namespace runwarden::plugins
