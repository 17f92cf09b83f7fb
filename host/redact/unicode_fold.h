// Characters that are read as an ASCII one. Pure; any thread.
#pragma once

#include <cstdint>

namespace runwarden::redact {

constexpr char32_t kIgnorable = 0xFFFFFFFF;  // nobody sees it

// The ASCII character that a reader takes it for: a digit, a full-width sign, a space, a dash, a line end; or kIgnorable, or itself.
char32_t folded(char32_t character);

}  // namespace runwarden::redact
