#include "evidence/trees.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "evidence/confidence.h"

namespace runwarden::plugins {

namespace {

/// The leaves that the values lead to in some trees, whose roots are in `at`. Walks down all at once: alone, each step would wait for
/// memory.
template <std::size_t kTrees>
void find_leaves(std::span<const TreeNode> nodes, std::span<const float> values, std::array<std::uint16_t, kTrees>& at) {
  for (bool inner = true; inner;) {
    inner = false;
    for (auto& place : at) {
      const auto& node = nodes[place];
      if (node.measure < 0) continue;
      place = values[static_cast<std::size_t>(node.measure)] <= node.split ? node.low : node.high;
      inner = true;
    }
  }
}

}  // namespace

double Trees::confidence(std::span<const float> values) const {
  constexpr std::size_t kAtOnce = 8;
  double odds = base;
  std::array<std::uint16_t, kAtOnce> at{};
  for (auto rest = roots; !rest.empty();) {
    const auto count = std::min(rest.size(), kAtOnce);
    at.fill(rest[0]);
    std::copy_n(rest.begin(), count, at.begin());
    find_leaves(nodes, values, at);
    for (std::size_t i = 0; i < count; ++i) odds += nodes[at[i]].value;
    rest = rest.subspan(count);
  }
  const double probable = 1 / (1 + std::exp(-odds));
  const std::array<std::pair<double, double>, 6> scale = {{{0, 0},
                                                           {candidate, FiringLine::kCandidate},
                                                           {wide, FiringLine::kWide},
                                                           {balanced, FiringLine::kBalanced},
                                                           {strict, FiringLine::kStrict},
                                                           {1, 1}}};
  std::size_t above = 1;
  while (above + 1 < scale.size() && probable > scale[above].first) ++above;
  const auto [from, low] = scale[above - 1];
  const auto [to, high] = scale[above];
  return to > from ? low + (high - low) * (probable - from) / (to - from) : high;
}

}  // namespace runwarden::plugins
