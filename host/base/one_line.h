// Texts of others for a terminal. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace runwarden {

// The text with blanks for control characters: they would move the terminal's cursor, or make a text look like lines of the program's own.
inline std::string one_line(std::string_view text) {
  std::string line(text);
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto c = static_cast<unsigned char>(line[i]);
    const bool second = i > 0 && line[i - 1] == '\xC2' && c >= 0x80 && c <= 0x9F;  // U+0080 to U+009F
    if (second) line[i - 1] = ' ';
    if (second || c < 0x20 || c == 0x7F) line[i] = ' ';
  }
  return line;
}

}  // namespace runwarden
