#pragma once

#include <algorithm>
#include <string_view>

#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {

/// True for a line's end, and for a mark with a blank behind it that ends a sentence: not the point of an abbreviation or an initial.
[[nodiscard]] inline bool ends_sentence_at(std::string_view text, std::size_t at, const Abbreviations& abbreviations) {
  const char c = text[at];
  if (c == '\n') return true;
  if ((c != '.' && c != '!' && c != '?') || at + 1 >= text.size() || !blank(text[at + 1])) return false;
  return c != '.' || (abbreviations.of(word_before(text, at)) == 0 && (at == 0 || text[at - 1] != '.'));
}

/// Where the sentence with position `at` begins, or `reach` bytes before that position. Reads no more than these.
[[nodiscard]] inline std::size_t begin_of_sentence(std::string_view text, std::size_t at, std::size_t reach,
                                                   const Abbreviations& abbreviations) {
  const auto from = at - std::min(at, reach);
  while (at > from && !ends_sentence_at(text, at - 1, abbreviations)) --at;
  return at;
}

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
    if (!ends_sentence_at(text, i, abbreviations)) continue;
    give(text.substr(begin, i + 1 - begin));
    begin = i + 1;
  }
  if (begin < text.size()) give(text.substr(begin));
}

}  // namespace runwarden::plugins
