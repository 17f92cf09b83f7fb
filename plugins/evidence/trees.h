#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace runwarden::plugins {

/// One node of a decision tree. `measure` is the index of the measure to test; -1 marks a leaf, whose `value` counts.
struct TreeNode {
  std::int16_t measure;
  float split;              // up to this value, continue with `low`, beyond it with `high`
  std::uint16_t low, high;  // node indexes
  float value;
};

/// A learned confidence: trees whose leaves add up to the log odds of a verdict, and the probabilities from which each sensitivity fires.
/// Made by tests/learn/train.py. Read-only: any thread.
struct Trees {
  std::span<const std::string_view> measures;  // names, in order
  std::span<const TreeNode> nodes;
  std::span<const std::uint16_t> roots;
  float base;                    // initial log odds
  float candidate;               // the probability from which a doubt is a candidate
  float wide, balanced, strict;  // probabilities from which a verdict fires

  /// The confidence, 0 to 1, on the scale of FiringLine: `balanced` maps to FiringLine::kBalanced, and so on. `values` are in the order of
  /// `measures`.
  [[nodiscard]] double confidence(std::span<const float> values) const;
};

/// Why candidates are withdrawn whose weighed confidence is below FiringLine::kCandidate.
inline constexpr std::string_view kUnlikely = " (all facts about it taken together make it unlikely)";

}  // namespace runwarden::plugins
