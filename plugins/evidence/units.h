#pragma once

#include <cstddef>

namespace runwarden::plugins {

/// True when `told`, rounded to so many decimals, is `known` in another customary unit of length, weight, volume or temperature: agents
/// convert these without a tool.
[[nodiscard]] bool is_conversion(double known, double told, std::size_t decimals);

}  // namespace runwarden::plugins
