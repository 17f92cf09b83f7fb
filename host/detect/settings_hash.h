// Identifies settings independently of their formatting. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace runwarden::detect {

// SHA-256 of canonical_json(), lower-case hexadecimal.
std::string settings_hash(std::string_view settings_json);

}  // namespace runwarden::detect
