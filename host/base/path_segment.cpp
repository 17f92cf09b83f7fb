#include "base/path_segment.h"

namespace runwarden {

std::string path_segment(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  if (text == "." || text == "..") return text == "." ? "%2E" : "%2E%2E";
  std::string out;
  for (const char raw : text) {
    const auto c = static_cast<unsigned char>(raw);
    const bool unreserved =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    if (unreserved) {
      out += raw;
    } else {
      out.append("%").append(1, kHex[c >> 4]).append(1, kHex[c & 15]);
    }
  }
  return out;
}

}  // namespace runwarden
