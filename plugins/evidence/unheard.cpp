#include "evidence/unheard.h"

#include <algorithm>

#include "common/facts.h"
#include "common/reading.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kShortestName = 3;

/// The length in bytes (three) of a character of a script without blanks, U+3000 and beyond, at an offset; 0 for any other.
std::size_t sign_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  return lead >= 0xE3 && lead <= 0xEC && at + 3 <= text.size() ? 3 : 0;
}

/// The length in bytes of a blank, dash, quotation mark or other sign beyond ASCII at an offset (U+0080 to U+00BF, U+2000 to U+2FFF); 0
/// for any other character.
std::size_t mark_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  return lead == 0xC2 ? 2 : lead == 0xE2 ? 3 : 0;
}

/// Passes on the runs of letters and digits, and the pairs of adjacent characters of scripts without blanks.
template <class Word, class Pair>
void each_part(std::string_view text, Word word, Pair pair) {
  const bool plain = find_in_blocks(text, 0, [](const Simd16& block) { return block.wide(); }) == text.size();
  if (plain) {
    for_each_word(text, [&](std::string_view part) {
      word(static_cast<std::size_t>(part.data() - text.data()), part);
      return true;
    });
    return;
  }
  for (std::size_t i = 0; i < text.size();) {
    if (const auto sign = sign_at(text, i); sign != 0) {
      if (i + sign < text.size() && sign_at(text, i + sign) != 0) pair(text.substr(i, 2 * sign));
      i += sign;
      continue;
    }
    if (const auto mark = mark_at(text, i); mark != 0) {
      i += mark;
      continue;
    }
    const auto begin = i;
    while (i < text.size() && is_letter_or_digit(text[i]) && sign_at(text, i) == 0 && mark_at(text, i) == 0) ++i;
    if (i == begin) {
      ++i;
    } else {
      word(begin, text.substr(begin, i - begin));
    }
  }
}

/// "## Results", "**Results so far:**": a line marked as a heading.
bool is_heading(std::string_view line) {
  constexpr std::string_view kBold = "**";
  line = trim(line);
  if (line.ends_with(':')) line.remove_suffix(1);
  return line.starts_with('#') || (line.size() > 2 * kBold.size() && line.starts_with(kBold) && line.ends_with(kBold));
}

/// Tells which offsets are in headings. Call with rising offsets, so that each line is examined once.
class Headings {
 public:
  explicit Headings(std::string_view text) : text_(text) {}

  bool hold(std::size_t at) {
    while (at >= end_) {
      const auto begin = end_;
      end_ = std::min(text_.find('\n', begin), text_.size() - 1) + 1;
      heading_ = is_heading(text_.substr(begin, end_ - begin));
    }
    return heading_;
  }

 private:
  std::string_view text_;
  std::size_t end_ = 0;
  bool heading_ = false;
};

/// True for a word that begins a sentence, line, item or quotation: its capital means nothing.
bool begins_anew(std::string_view text, std::size_t at) {
  if (at < 2) return true;
  return text[at - 1] != ' ' || std::string_view(".!?:*-#>|\n").find(text[at - 2]) != std::string_view::npos;
}

}  // namespace

void Unheard::hear(std::string_view text) {
  const auto take = [&](std::string_view part) { heard_.insert(normal_id(part)); };
  each_part(
      text, [&](std::size_t, std::string_view word) { take(word); }, take);
}

News Unheard::news(std::string_view message) {
  News news;
  counted_.clear();
  const auto text = prose_of(message, buffer_);
  Headings headings(text);
  const auto count = [&](std::string_view part, std::size_t& into) {
    const auto word = normal_id(part);
    if (heard_.contains(word) || counted_.contains(word)) return;
    counted_.insert(word);
    ++into;
  };
  each_part(
      text,
      [&](std::size_t at, std::string_view word) {
        if (std::count_if(word.begin(), word.end(), is_digit) > 1) return count(word, news.figures);
        const bool named = word.size() >= kShortestName && is_upper(word[0]) && is_lower(word[1]) && !begins_anew(text, at);
        if (named && !headings.hold(at)) count(word, news.names);
      },
      [&](std::string_view pair) { count(pair, news.signs); });
  return news;
}

}  // namespace runwarden::plugins
