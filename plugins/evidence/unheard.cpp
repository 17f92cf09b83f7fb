#include "evidence/unheard.h"

#include <algorithm>

#include "common/facts.h"
#include "common/reading.h"
#include "common/words.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kShortestName = 3;

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

/// The bytes of a sign of a script without blanks (U+3000 and beyond, in three bytes) at a place; 0 for any other.
std::size_t sign_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  return lead >= 0xE3 && lead <= 0xEC && at + 3 <= text.size() ? 3 : 0;
}

/// Hands out the runs of ASCII letters and digits, and the pairs of neighbouring signs.
template <class Word, class Pair>
void each_part(std::string_view text, Word word, Pair pair) {
  for (std::size_t i = 0; i < text.size();) {
    if (const auto sign = sign_at(text, i); sign != 0) {
      if (i + sign < text.size() && sign_at(text, i + sign) != 0) pair(text.substr(i, 2 * sign));
      i += sign;
      continue;
    }
    const auto begin = i;
    while (i < text.size() && is_letter_or_digit(text[i]) && sign_at(text, i) == 0) ++i;
    if (i == begin) {
      ++i;
    } else {
      word(begin, text.substr(begin, i - begin));
    }
  }
}

/// True for a word that begins a sentence, a line, an item or a quotation: its capital says nothing.
bool begins_anew(std::string_view text, std::size_t at) {
  if (at < 2) return true;
  return text[at - 1] != ' ' || std::string_view(".!?:*-#>|\n").find(text[at - 2]) != std::string_view::npos;
}

}  // namespace

void Unheard::hear(std::string_view text) {
  const auto take = [&](std::string_view part) { heard_.insert(normal_id(part)); };
  each_part(text, [&](std::size_t, std::string_view word) { take(word); }, take);
}

News Unheard::news(std::string_view message) {
  News news;
  const auto text = told_of(message, buffer_);
  const auto unheard = [&](std::string_view part) { return !heard_.contains(normal_id(part)); };
  each_part(
      text,
      [&](std::size_t at, std::string_view word) {
        const bool figure = std::count_if(word.begin(), word.end(), is_digit) > 1;
        const bool name = is_upper(word[0]) && word.size() >= kShortestName && !begins_anew(text, at);
        if (!(figure || name) || !unheard(word)) return;
        ++(figure ? news.figures : news.names);
      },
      [&](std::string_view pair) { news.signs += unheard(pair) ? 1u : 0u; });
  return news;
}

}  // namespace runwarden::plugins
