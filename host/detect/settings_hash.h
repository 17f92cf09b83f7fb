// Identifies settings independently of their formatting. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace runwarden::detect {

// The JSON text with members sorted by name, without white space, and with numbers without a fraction as integers. Returns invalid JSON
// unchanged, and {} for empty text.
std::string canonical_json(std::string_view json);

// SHA-256 of canonical_json(), lower-case hexadecimal.
std::string settings_hash(std::string_view settings_json);

}  // namespace runwarden::detect
