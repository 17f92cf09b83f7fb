#pragma once

#include <algorithm>
#include <string_view>

#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {

/// Passes on the sentences of a text, line by line, without the marks of a heading, list item or quotation before them. Linear.
template <class Take>
void for_each_sentence(std::string_view text, const Abbreviations& abbreviations, Take take) {
  const auto give = [&](std::string_view part) {
    const auto first = part.find_first_not_of(" \t\r#*->_|");
    if (first == std::string_view::npos) return;
    part = part.substr(first);
    const auto digits = std::min(part.find_first_not_of("0123456789"), part.size());
    const bool numbered =
        digits > 0 && digits < 3 && digits + 1 < part.size() && (part[digits] == '.' || part[digits] == ')') && blank(part[digits + 1]);
    take(numbered ? trim(part.substr(digits + 1)) : part);
  };
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool line = text[i] == '\n';
    const bool mark = (text[i] == '.' || text[i] == '!' || text[i] == '?') && i + 1 < text.size() && blank(text[i + 1]) &&
                      !(text[i] == '.' && (abbreviations.of(word_before(text, i)) != 0 || (i > 0 && text[i - 1] == '.')));
    if (!line && !mark) continue;
    give(text.substr(begin, i + 1 - begin));
    begin = i + 1;
  }
  if (begin < text.size()) give(text.substr(begin));
}

}  // namespace runwarden::plugins
