#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace runwarden::plugins {

/// Shipped input windows in tokens, by model name. The setting `windows` adds to them.
[[nodiscard]] const std::map<std::string, std::int64_t>& shipped_windows();

}  // namespace runwarden::plugins
