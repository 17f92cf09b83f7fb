#include "store/tables.h"

namespace runwarden::store {

std::string place_text(const Table& table, std::string_view key) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "database \"" + std::string(table.name) + "\", key 0x";
  for (const char c : key) {
    text += kDigits[static_cast<std::uint8_t>(c) >> 4];
    text += kDigits[static_cast<std::uint8_t>(c) & 15];
  }
  return text;
}

}  // namespace runwarden::store
