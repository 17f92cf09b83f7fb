// Classes of ASCII characters, independent of the locale. Other bytes belong to no class, and to_lower does not change them. The host has
// its own (host/base/ascii.h): a detector builds without the host's headers.
#pragma once

#include <algorithm>
#include <string_view>

namespace runwarden::plugins {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_ascii_letter(char c) {
  return is_lower(c) || is_upper(c);
}
constexpr char to_lower(char c) {
  return is_upper(c) ? static_cast<char>(c + ('a' - 'A')) : c;
}

inline bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

inline bool has_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_digit);
}

}  // namespace runwarden::plugins
