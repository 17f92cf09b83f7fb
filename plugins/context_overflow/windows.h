#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace runwarden::plugins {

/// Input windows in tokens by model name, as shipped. Settings replace (`windows`) or add to it (`extra_windows`).
[[nodiscard]] const std::map<std::string, std::int64_t>& shipped_windows();

}  // namespace runwarden::plugins
