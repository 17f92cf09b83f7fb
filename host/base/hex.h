// Bytes as hexadecimal digits and back. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ascii.h"

namespace runwarden {

// The value of a digit in either case, 0 to 15; -1 for any other character.
constexpr int hex_digit(char c) {
  if (ascii::is_digit(c)) return c - '0';
  const char lower = ascii::to_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Two lower-case digits per byte.
std::string bytes_to_hex(std::string_view bytes);

// Empty if a digit is missing or invalid.
std::optional<std::string> bytes_from_hex(std::string_view digits);

}  // namespace runwarden
