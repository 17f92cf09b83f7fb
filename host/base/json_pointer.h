// The tokens of JSON Pointers (RFC 6901). Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace runwarden {

// A member's name as a token: "~0" for "~", "~1" for "/".
std::string pointer_token(std::string_view name);

// The name that a token spells. A "~" before anything else stands for itself.
std::string pointer_name(std::string_view token);

}  // namespace runwarden
