#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/evidence_index.h"
#include "common/facts.h"
#include "common/recovery.h"
#include "common/verdict.h"
#include "schema_ghost/ghost_scene.h"
#include "schema_ghost/grounding.h"

namespace runwarden::plugins {

/// Finds a value that an answer gives for one thing although only another thing has it: "BRK-10 is 3.45, and BRK-12 is 3.45 as well", where
/// the look-up of BRK-12 returned nothing and the same tool's look-up of BRK-10 gave 3.45. A fact is a pair of subject and value. One owner,
/// one thread at a time.
class ValuesOfOthers {
 public:
  ValuesOfOthers(const GhostRules& rules, GhostScene& scene, Grounding& grounds) : rules_(rules), scene_(scene), grounds_(grounds) {}

  /// Judges the final message against the last few look-ups that returned nothing. Linear.
  void find(const RunView& run, Verdict& verdict);

 private:
  void add_objects(std::string_view input, std::vector<std::string_view>& objects);
  [[nodiscard]] bool is_left_open(const RunView& run, std::size_t hollow);
  void know_others(const RunView& run, std::size_t hollow);
  [[nodiscard]] bool is_told_of_hollow(std::string_view text, const Fact& fact) const;

  const GhostRules& rules_;
  GhostScene& scene_;
  Grounding& grounds_;
  std::vector<std::string_view> objects_;  // what the step that returned nothing asked for
  std::vector<std::string_view> others_;   // what calls of the same tool asked for that returned something
  std::vector<CallValue> values_;
  std::vector<Fact> facts_;
  EvidenceIndex of_others_;  // what those calls returned
  EvidenceIndex elsewhere_;  // what the rest of the run says
};

}  // namespace runwarden::plugins
