// Folds characters that look like an ASCII character. Pure; any thread.
#pragma once

#include <cstdint>

namespace runwarden::redact {

constexpr char32_t kIgnorable = 0xFFFFFFFF;  // invisible

// The ASCII character that it looks like (a digit, a full-width sign, a space, a dash, a line end), kIgnorable, or the character itself.
char32_t folded(char32_t character);

}  // namespace runwarden::redact
