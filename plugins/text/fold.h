#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "text/ascii.h"

namespace runwarden::plugins {

/// Folds text for comparison: removes case and accents, and maps typographic quotes to ' and ", dashes to '-', unusual spaces, pictures and
/// other symbols beyond ASCII to ' '. Replaces `out`. Any thread; linear in the text's length. Never fails: invalid UTF-8 bytes become
/// spaces.
void fold(std::string_view text, std::string& out);

/// The same; also collects where in `out` words end in a vowel with an acute accent ("cancel\u00E9"), in ascending order. Replaces both.
void fold(std::string_view text, std::string& out, std::vector<std::uint32_t>& stressed);

/// The text with typographic dashes, quotes and blanks as ASCII; letters stay as they are. Returns `text` itself when it is already ASCII,
/// else a view of `buffer`.
[[nodiscard]] std::string_view with_plain_signs(std::string_view text, std::string& buffer);

/// Cuts a text at `limit` characters (code points), never inside one.
[[nodiscard]] std::string_view cut(std::string_view text, std::size_t limit = 160);

/// The text without white space at its ends.
[[nodiscard]] std::string_view trim(std::string_view text);

/// True when both are equal, ignoring the case of ASCII letters.
[[nodiscard]] inline bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (to_lower(a[i]) != to_lower(b[i])) return false;
  }
  return true;
}

/// True when the text begins with the opening, ignoring the case of ASCII letters.
[[nodiscard]] inline bool opens_with(std::string_view text, std::string_view opening) {
  return equal_ignoring_case(text.substr(0, opening.size()), opening);
}

/// True when the text begins with one of the openings, ignoring the case of ASCII letters.
template <class Openings>
[[nodiscard]] bool opens_with_any(std::string_view text, const Openings& openings) {
  return std::any_of(std::begin(openings), std::end(openings), [&](const auto& opening) { return opens_with(text, opening); });
}

/// True when the text ends with one of the endings, ignoring the case of ASCII letters.
template <class Endings>
[[nodiscard]] bool ends_with_any(std::string_view text, const Endings& endings) {
  return std::any_of(std::begin(endings), std::end(endings), [&](const auto& ending) {
    return text.size() >= ending.size() && equal_ignoring_case(text.substr(text.size() - ending.size()), ending);
  });
}

/// True when the word is one of the names, ignoring the case of ASCII letters.
template <class Names>
[[nodiscard]] bool among(std::string_view word, const Names& names) {
  return std::any_of(std::begin(names), std::end(names), [&](const auto& name) { return equal_ignoring_case(word, name); });
}

}  // namespace runwarden::plugins
