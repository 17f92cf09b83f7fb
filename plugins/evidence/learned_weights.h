#pragma once

#include <cmath>
#include <cstdint>
#include <span>

namespace runwarden::plugins {

/// What a logistic regression makes of features, 0 to 1: `weights` has one for each index, in multiples of `unit`. Linear; any thread.
[[nodiscard]] inline double probability(std::span<const std::uint16_t> features, std::span<const std::int8_t> weights, float unit) {
  int sum = 0;
  for (const auto feature : features) sum += weights[feature];
  return 1 / (1 + std::exp(-static_cast<double>(unit) * sum));
}

}  // namespace runwarden::plugins
