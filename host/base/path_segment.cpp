#include "base/path_segment.h"

#include "base/ascii.h"

namespace runwarden {

std::string path_segment(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  if (text == "." || text == "..") return text == "." ? "%2E" : "%2E%2E";
  std::string out;
  for (const char raw : text) {
    const auto c = static_cast<unsigned char>(raw);
    const bool unreserved = ascii::is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~';
    if (unreserved) {
      out += raw;
    } else {
      out.append("%").append(1, kHex[c >> 4]).append(1, kHex[c & 15]);
    }
  }
  return out;
}

}  // namespace runwarden
