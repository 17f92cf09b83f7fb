#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/findings.h"
#include "evidence/measures.h"
#include "evidence/support.h"
#include "schema_ghost/found_things.h"
#include "schema_ghost/ghost_news.h"
#include "schema_ghost/ghost_rules.h"
#include "schema_ghost/ghost_scene.h"
#include "schema_ghost/grounding.h"
#include "schema_ghost/made_up.h"
#include "schema_ghost/tool_gaps.h"
#include "schema_ghost/values_of_others.h"

namespace runwarden::plugins {

/// Finds answers whose specifics no source in the run supports, given after a tool that returned nothing.
/// One owner, one thread at a time: keeps scratch memory between runs.
class SchemaGhost {
 public:
  static constexpr std::string_view kKey = "schema_ghost";
  static constexpr std::string_view kTitle = "Schema ghost";

  explicit SchemaGhost(std::string_view settings_json);

  [[nodiscard]] static std::string schema();

  [[nodiscard]] Verdict evaluate(const RunView& run);

  /// The inputs to the weights in the last evaluation; valid only if weighed().
  [[nodiscard]] const Measures& measures() const { return measures_; }
  [[nodiscard]] bool weighed() const { return weighed_; }
  /// The names of the measures that the weights were trained on, in order.
  [[nodiscard]] static std::span<const std::string_view> weights_of();

 private:
  using Hollow = GhostScene::Hollow;
  using AnswerText = GhostScene::AnswerText;
  using Stated = GhostScene::Stated;

  SchemaGhost(std::string_view settings_json, const Settings& settings);

  [[nodiscard]] bool admits(std::string_view text, std::string_view tool);
  [[nodiscard]] bool denies_thing_of(std::string_view tool);
  void judge_answer(const RunView& run, Hollow hollow, AnswerText answer, Verdict& verdict);
  [[nodiscard]] bool may_have_a_source(const RunView& run, std::size_t hollow, std::size_t step, Verdict& verdict);
  void judge_ungrounded(const RunView& run, Hollow hollow, AnswerText answer, Verdict& verdict);
  void explain_grounding(const std::vector<Stated>& stated, std::size_t step, ExplanationRecorder& explanation) const;
  [[nodiscard]] double confidence(const RunView& run, Hollow hollow, std::size_t step) const;
  [[nodiscard]] bool others_gave(const RunView& run, std::size_t step);
  [[nodiscard]] bool runs_program(const RunView& run, std::size_t step);
  [[nodiscard]] bool states_new_id() const;
  [[nodiscard]] double unless_from_elsewhere(const RunView& run, Hollow hollow, std::size_t step, double sure);
  [[nodiscard]] bool tells_of_hollow(const RunView& run, Hollow hollow, std::size_t step);
  static void tell_why_not(Hollow hollow, Verdict& verdict);
  void tell_of_design(std::string_view answer, Verdict& verdict);
  void walk(const RunView& run, Verdict& verdict);
  void judge_single_values(const RunView& run, Verdict& verdict);
  [[nodiscard]] std::string cannot_tell(const RunView& run) const;

  static constexpr std::string_view kFigures = "figures";  // of single values
  // Learned weights, for cases where no rule is sure: weighed.cpp
  static constexpr std::size_t kMuchGiven = 2000;  // bytes
  void measure_source(const RunView& run, std::size_t hollow, const Verdict& verdict);
  void measure_answer(const RunView& run, std::size_t hollow, const FinalMessage& message);
  [[nodiscard]] bool is_answered_since(const RunView& run, std::size_t hollow, const FinalMessage& message);
  void weigh(const RunView& run, Verdict& verdict);

  std::shared_ptr<const GhostRules> rules_held_;
  const GhostRules& rules_ = *rules_held_;
  GhostScene scene_;
  ToolGaps gaps_{rules_, scene_};
  Grounding grounds_{rules_, scene_};
  GhostNews news_{rules_, scene_, gaps_, grounds_};
  FoundThings found_things_{rules_, scene_, grounds_};
  ValuesOfOthers values_of_others_{rules_, scene_, grounds_};
  MadeUpValues single_values_{rules_.lexicon, rules_.fact_words, scene_.tools, scene_.disclaimers};
  Support others_{rules_.lexicon};
  Measures measures_;
  bool weighed_ = false;
};

}  // namespace runwarden::plugins
