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
  while (!text.empty()) {
    const std::size_t length = utf8_length_at(text, 0);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    const auto c = static_cast<unsigned char>(character[0]);
    const bool c1 = length == 2 && c == 0xC2 && static_cast<unsigned char>(character[1]) <= 0x9F;  // U+0080 to U+009F
    if (length == 0) {
      line += "\xEF\xBF\xBD";
    } else if (c1 || c < 0x20 || c == 0x7F) {
      line.append(length, ' ');
    } else {
      line += character;
    }
    text.remove_prefix(character.size());
  }
  return line;
}

}  // namespace runwarden
