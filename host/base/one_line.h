// Texts of others for a terminal. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace runwarden {

// The text with blanks for control characters, which would move the terminal's cursor or make a text look like lines of the program's own,
// and U+FFFD for what is not UTF-8.
inline std::string one_line(std::string_view text) {
  std::string line;
  for (std::size_t i = 0, length = 0; i<text.size(); i += length> 0 ? length : 1) {
    length = utf8_length_at(text, i);
    const auto c = static_cast<unsigned char>(text[i]);
    const bool c1 = length == 2 && c == 0xC2 && static_cast<unsigned char>(text[i + 1]) <= 0x9F;  // U+0080 to U+009F
    if (length == 0) {
      line += "\xEF\xBF\xBD";
    } else if (c1 || c < 0x20 || c == 0x7F) {
      line.append(length, ' ');
    } else {
      line += text.substr(i, length);
    }
  }
  return line;
}

}  // namespace runwarden
