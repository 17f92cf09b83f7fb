#include "evidence/trees.h"

#include <array>
#include <cmath>

#include "evidence/confidence.h"

namespace runwarden::plugins {

double Trees::confidence(std::span<const float> values) const {
  double odds = base;
  for (const auto root : roots) {
    auto at = root;
    while (nodes[at].measure >= 0)
      at = values[static_cast<std::size_t>(nodes[at].measure)] <= nodes[at].split ? nodes[at].low : nodes[at].high;
    odds += nodes[at].value;
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
