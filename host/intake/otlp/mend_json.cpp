#include "intake/otlp/mend_json.h"

#include <algorithm>

#include "base/hex.h"
#include "base/utf8.h"

namespace runwarden::intake::otlp {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_lone_surrogate(std::string_view text, std::size_t at, std::size_t& length) {
  const auto unit_at = [&](std::size_t from) -> int {
    if (text.size() < from + 6 || text[from] != '\\' || text[from + 1] != 'u') return -1;
    int unit = 0;
    for (std::size_t i = from + 2; i < from + 6; ++i) {
      const int digit = hex_digit(text[i]);
      if (digit < 0) return -1;
      unit = unit * 16 + digit;
    }
    return unit;
  };
  const int unit = unit_at(at);
  length = 6;
  if (unit < 0xD800 || unit > 0xDFFF) return false;
  const int next = unit < 0xDC00 ? unit_at(at + 6) : -1;
  if (next < 0xDC00 || next > 0xDFFF) return true;
  length = 12;
  return false;
}

}  // namespace

std::string mended_json(std::string_view text) {
  constexpr std::string_view kNoNumbers[] = {"-Infinity", "Infinity", "NaN"};
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    std::size_t length = 1;
    if (in_string && c == '\\') {
      const bool lone = is_lone_surrogate(text, at, length);
      const bool unit = at + 1 < text.size() && text[at + 1] == 'u';
      if (!unit) length = std::min<std::size_t>(2, text.size() - at);
      out.append(lone ? kReplacement : text.substr(at, length));
      at += length;
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (!in_string && (c == 'N' || c == 'I' || c == '-')) {
      const auto* const word = std::find_if(std::begin(kNoNumbers), std::end(kNoNumbers),
                                            [&](std::string_view one) { return text.substr(at).starts_with(one); });
      if (word != std::end(kNoNumbers)) {
        out += "null";
        at += word->size();
        continue;
      }
    }
    length = utf8_length_at(text, at);
    out.append(length == 0 ? kReplacement : text.substr(at, length));
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

}  // namespace runwarden::intake::otlp
