// Classes of ASCII characters, independent of the locale. Other bytes belong to no class, and the conversions do not change them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace runwarden::ascii {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_letter(char c) {
  return is_lower(c) || is_upper(c);
}
constexpr bool is_alphanumeric(char c) {
  return is_letter(c) || is_digit(c);
}
constexpr bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
constexpr bool is_quote(char c) {
  return c == '"' || c == '\'';
}
constexpr char to_lower(char c) {
  return is_upper(c) ? static_cast<char>(c + ('a' - 'A')) : c;
}
constexpr char to_upper(char c) {
  return is_lower(c) ? static_cast<char>(c - ('a' - 'A')) : c;
}

/// Whether the text consists of one or more digits.
constexpr bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

/// The text with its capitals in lower case.
inline std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = to_lower(c);
  return out;
}

}  // namespace runwarden::ascii
