#pragma once

#include <cstddef>
#include <string_view>

#include "common/verdict.h"
#include "evidence/unheard.h"
#include "schema_ghost/ghost_scene.h"
#include "schema_ghost/grounding.h"
#include "schema_ghost/tool_gaps.h"

namespace runwarden::plugins {

/// Finds a message that tells something new about what calls returned nothing for.
class GhostNews {
 public:
  GhostNews(const GhostRules& rules, GhostScene& scene, ToolGaps& gaps, Grounding& grounds)
      : rules_(rules), scene_(scene), gaps_(gaps), grounds_(grounds) {}

  /// News in any language that is stated while a source that returned nothing is not made good, or a reason that nothing before it names:
  /// weak evidence, but a candidate.
  void find(const RunView& run, Verdict& verdict);

 private:
  using AnswerText = GhostScene::AnswerText;

  struct News {
    std::size_t first = 0;         // the first call that returned nothing
    std::size_t hollow = kNoStep;  // the last one, unless its source has returned something since
    std::size_t reason = kNoStep;  // one that a message gave a reason for
    std::size_t reasoned = 0;      // that message
    bool given = false;            // another call returned something
    std::size_t read = 0;          // outputs read for trouble
    std::size_t looked = 0;        // messages read for reasons
  };

  [[nodiscard]] bool gives_new_reason(const RunView& run, std::string_view message, std::size_t step, std::size_t& looked);
  [[nodiscard]] bool gave_nothing_new(const RunView& run, std::size_t call, News& news);
  [[nodiscard]] bool tells_news(const RunView& run, AnswerText message, News& news);
  [[nodiscard]] std::size_t says_looked_up(const RunView& run, std::size_t step);
  [[nodiscard]] std::size_t answers_for_failed(const RunView& run, std::size_t hollow);
  [[nodiscard]] Finding finding(const RunView& run, std::size_t hollow, std::size_t message);
  [[nodiscard]] bool hear_step(const RunView& run, std::size_t at, News& news);

  const GhostRules& rules_;
  GhostScene& scene_;
  ToolGaps& gaps_;
  Grounding& grounds_;
  Unheard unheard_;
};

}  // namespace runwarden::plugins
