#include "base/base64.h"

#include <cstdint>

#include "base/ascii.h"

namespace runwarden {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encode(std::string_view bytes, std::string_view digits) {
  std::string text;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    for (held += 8; held >= 6; held -= 6) text += digits[bits >> (held - 6) & 63];
  }
  if (held > 0) text += digits[bits << (6 - held) & 63];
  return text;
}

int digit_of(char c) {
  if (ascii::is_upper(c)) return c - 'A';
  if (ascii::is_lower(c)) return c - 'a' + 26;
  if (ascii::is_digit(c)) return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  return c == '/' || c == '_' ? 63 : -1;
}

}  // namespace

std::string bytes_to_base64(std::string_view bytes) {
  std::string text = encode(bytes, kDigits);
  text.resize((text.size() + 3) / 4 * 4, '=');
  return text;
}

std::string bytes_to_base64url(std::string_view bytes) {
  return encode(bytes, kUrlDigits);
}

FromBase64 bytes_from_base64(std::string_view text) {
  FromBase64 from;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int digit = digit_of(c);
    if (digit < 0) break;
    ++from.read;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    from.bytes += static_cast<char>(bits >> held & 0xFF);
  }
  return from;
}

}  // namespace runwarden
