#include "store/postgres/row.h"

#include "base/utf8.h"

namespace runwarden::store::postgres {

bool is_text(std::string_view text) {
  return text.find('\0') == std::string_view::npos && utf8_fault(text) == text.size();
}

std::string column_text(std::string_view text) {
  std::string held;
  for (const char c : text) c == '\0' ? held.append("\xEF\xBF\xBD") : held.append(1, c);
  return held;
}

// The envelope is 24 bytes. The four from byte 8 on, lowest first, give the length of the head that follows; if its second byte is 0, there
// is only a head. A slice of a value that is stored apart is read without the rest of it.
std::string head_of(const std::string& column) {
  const auto byte = [&](int at) { return "get_byte(substring(" + column + " from " + std::to_string(at + 1) + " for 1), 0)"; };
  return "(CASE WHEN length(" + column + ") < 24 OR " + byte(1) + " = 0 THEN " + column + " ELSE substring(" + column + " for 24 + " +
         byte(8) + " + 256 * " + byte(9) + " + 65536 * " + byte(10) + ") END)";
}

std::string unreadable_text(const char* table, std::string_view key, const char* why) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = std::string("store: table \"") + table + "\", key 0x";
  for (const char c : key) {
    text += kDigits[static_cast<std::uint8_t>(c) >> 4];
    text += kDigits[static_cast<std::uint8_t>(c) & 15];
  }
  return text + ": " + why + "; run `runwarden verify`, and restore this record from a backup or purge it";
}

model::Digest digest_in(std::string_view bytes, const char* what) {
  model::Digest digest{};
  if (bytes.size() != digest.size()) throw BadValue(std::string("its ") + what + " has " + std::to_string(bytes.size()) + " bytes");
  std::copy_n(reinterpret_cast<const std::uint8_t*>(bytes.data()), digest.size(), digest.begin());
  return digest;
}

}  // namespace runwarden::store::postgres
