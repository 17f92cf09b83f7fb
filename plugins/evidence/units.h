#pragma once

#include <cstddef>

namespace runwarden::plugins {

/// True when `told`, rounded to `decimals` decimals, is `known` in another customary unit of length, weight, volume or temperature. Agents
/// convert these without a tool.
[[nodiscard]] bool is_conversion(double known, double told, std::size_t decimals);

}  // namespace runwarden::plugins
