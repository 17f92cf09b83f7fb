#pragma once

#include <string>
#include <string_view>

#include "common/hash_set.h"
#include "common/verdict.h"
#include "common/word_filter.h"
#include "schema_ghost/ghost_scene.h"
#include "schema_ghost/grounding.h"

namespace runwarden::plugins {

/// Finds a message that says that the agent found a numbered thing, "I find a pan (1)", and goes on to use it, where an earlier place was
/// empty and no output shows such a thing. One owner, one thread at a time.
class FoundThings {
 public:
  FoundThings(const GhostRules& rules, GhostScene& scene, Grounding& grounds);

  /// Linear; reads short messages only.
  void find(const RunView& run, Verdict& verdict);

 private:
  [[nodiscard]] bool finds(const WordEntry& word) const;
  [[nodiscard]] bool shows_nothing(const StepView& step);
  [[nodiscard]] std::string_view thing_not_shown(std::string_view message);
  [[nodiscard]] bool used_next(const RunView& run, std::size_t message, std::string_view thing);
  void show(std::string_view text, bool numbered_only);

  const GhostRules& rules_;
  GhostScene& scene_;
  Grounding& grounds_;
  WordFilter finding_words_;
  std::string folded_;
  HashSet shown_;  // hash_noun() of words that outputs have, and of numbered things that the user named
};

}  // namespace runwarden::plugins
