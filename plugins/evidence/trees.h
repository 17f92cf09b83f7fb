#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace runwarden::plugins {

/// One node of a decision tree. `measure` is the number of the measure that is asked; -1 for a leaf, whose value counts.
struct TreeNode {
  std::int16_t measure;
  float split;              // up to this value the way goes to `low`, beyond it to `high`
  std::uint16_t low, high;  // numbers of nodes
  float value;
};

/// A learned confidence: trees whose leaves sum up to the log odds of a verdict, and the odds from which each sensitivity fires. Made by
/// tests/learn/train.py. Read only: any thread.
struct Trees {
  std::span<const std::string_view> measures;  // their names, in order
  std::span<const TreeNode> nodes;
  std::span<const std::uint16_t> roots;
  float base;                    // log odds to begin with
  float wide, balanced, strict;  // probabilities from which a verdict fires

  /// The confidence, 0 to 1, on the scale of FiringLine: what fires at "balanced" is at its line there. `values` as named by `measures`.
  [[nodiscard]] double confidence(std::span<const float> values) const;
};

}  // namespace runwarden::plugins
