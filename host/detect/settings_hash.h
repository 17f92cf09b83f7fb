// What tells two sets of settings apart, however they were written down. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace runwarden::detect {

// The JSON text with its members sorted by name, without white space, and numbers without a fraction as integers: two spellings of
// the same settings become one. Text that is no JSON stays as it is; none at all is {}.
std::string canonical_json(std::string_view json);

// SHA-256 of canonical_json(), lower-case hexadecimal.
std::string settings_hash(std::string_view settings_json);

}  // namespace runwarden::detect
