// Compares JSON independently of its formatting. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace runwarden {

// The JSON text with members sorted by name, without white space, and with numbers without a fraction as integers. Returns invalid JSON
// unchanged, and {} for empty text.
std::string canonical_json(std::string_view json);

}  // namespace runwarden
