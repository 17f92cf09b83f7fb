#include "base/hex.h"

#include <cstdint>

namespace runwarden {

std::string bytes_to_hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(bytes.size() * 2, '0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text[2 * i] = kDigits[static_cast<std::uint8_t>(bytes[i]) >> 4];
    text[2 * i + 1] = kDigits[static_cast<std::uint8_t>(bytes[i]) & 15];
  }
  return text;
}

std::optional<std::string> bytes_from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = hex_digit(digits[i]);
    const int low = hex_digit(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

}  // namespace runwarden
