// The tokens of JSON Pointers (RFC 6901). Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace runwarden {

// The token for a member's name, with "~0" for "~" and "~1" for "/".
std::string pointer_token(std::string_view name);

// The name for a token. A "~" before any other character is literal.
std::string pointer_name(std::string_view token);

}  // namespace runwarden
