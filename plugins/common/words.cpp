#include "common/words.h"

#include <algorithm>

#include "text/fold.h"

namespace runwarden::plugins {
namespace {

bool joins(std::string_view text, std::size_t at) {
  if (at == 0 || at + 1 >= text.size()) return false;
  const char c = text[at];
  if (c == '\'') return is_word_byte(text[at - 1]) && is_word_byte(text[at + 1]);
  if (c == '.' || c == ',' || c == ':') return is_digit(text[at - 1]) && is_digit(text[at + 1]);
  return false;
}

void raise(RawWord& word, Break level, char mark = 0) {
  if (level > word.before) word.before = level;
  if (mark != 0 && (word.sentence_end == 0 || word.sentence_end == '\n' || mark == '?')) word.sentence_end = mark;
}

}  // namespace

std::string_view word_before(std::string_view text, std::size_t end) {
  constexpr std::size_t kLongest = 8;
  auto begin = end;
  while (begin > 0 && end - begin < kLongest && is_letter_or_digit(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

void Abbreviations::add(std::string_view folded, std::size_t language) {
  if (folded.empty()) return;
  auto& words = by_letter_[folded[0] & 31];
  const auto mask = LanguageSet{1} << language;
  const auto known = std::find_if(words.begin(), words.end(), [&](const Word& word) { return word.text == folded; });
  if (known == words.end()) {
    words.push_back({std::string(folded), mask});
  } else {
    known->languages |= mask;
  }
}

LanguageSet Abbreviations::of(std::string_view word) const {
  if (word.empty()) return 0;
  if (word.size() == 1 && !is_digit(word[0])) return ~LanguageSet{0};
  const auto& words = by_letter_[word[0] & 31];
  const auto known = std::find_if(words.begin(), words.end(), [&](const Word& other) { return equal_ignoring_case(other.text, word); });
  return known == words.end() ? 0 : known->languages;
}

std::string_view longest_word(std::string_view phrase) {
  std::string_view longest;
  for_each_word(phrase, [&](std::string_view word) {
    if (word.size() > longest.size()) longest = word;
    return true;
  });
  return longest;
}

std::string_view without_note(std::string_view text) {
  if (!text.ends_with(')')) return text;
  const auto open = text.rfind('(');
  return open == std::string_view::npos ? text : trim(text.substr(0, open));
}

bool holds_any(std::string_view folded, const std::vector<std::string>& phrases) {
  return std::any_of(phrases.begin(), phrases.end(), [&](const std::string& phrase) {
    for (auto at = folded.find(phrase); at != std::string_view::npos; at = folded.find(phrase, at + 1)) {
      const auto end = at + phrase.size();
      if ((at == 0 || !is_word_byte(folded[at - 1])) && (end == folded.size() || !is_word_byte(folded[end]))) return true;
    }
    return false;
  });
}

/// "has been **cancelled**": the asterisks directly precede a word.
bool WordCursor::opens_emphasis() const {
  const auto next = text_.find_first_not_of('*', at_);
  return next != std::string_view::npos && next != at_ && is_word_byte(text_[next]);
}

/// Handles the mark at the cursor. `line_start` becomes true for a line break.
void WordCursor::read_mark(RawWord& word, bool& line_start) {
  const char c = text_[at_];
  switch (c) {
    case '\n':
      // A single line break is soft wrapping; a blank line, a bullet or a heading after it is a boundary.
      if (line_start) raise(word, Break::kSentence, '\n');
      line_start = true;
      break;
    case '.':
      if (at_ + 1 >= text_.size() || !is_word_byte(text_[at_ + 1])) read_point(word);
      break;
    case '!':
    case '?': raise(word, Break::kSentence, c); break;
    case ',': raise(word, Break::kComma); break;
    case ';':
    case ':':
    case '(':
    case ')': raise(word, Break::kClause); break;
    case '{':
    case '<':
      // JSON or a tag on its own line.
      if (line_start) raise(word, Break::kSentence, '\n');
      break;
    case '-':
    case '*':
    case '#':
    case '|':
      if (line_start) {
        raise(word, Break::kSentence, '\n');
      } else if (at_ > 0 && blank(text_[at_ - 1]) && !opens_emphasis()) {
        raise(word, Break::kClause);
      }
      break;
    default: break;
  }
}

void WordCursor::read_break(RawWord& word) {
  word.before = Break::kNone;
  word.sentence_end = 0;
  word.shortened = 0;
  // A blank alone breaks nothing.
  if (at_ + 1 < text_.size() && text_[at_] == ' ' && is_word_byte(text_[at_ + 1])) {
    ++at_;
    return;
  }
  bool line_start = false;
  for (; at_ < text_.size() && !is_word_byte(text_[at_]); ++at_) read_mark(word, line_start);
  // "1." or "2)" at the start of a line is also a bullet.
  if (line_start && at_ < text_.size() && is_digit(text_[at_])) raise(word, Break::kSentence, '\n');
}

/// Handles a point that no word character follows.
void WordCursor::read_point(RawWord& word) {
  const auto before = word_before(text_, at_);
  const auto shortened = abbreviations_ != nullptr ? abbreviations_->of(before) : LanguageSet{0};
  if (before.size() == 1 && !is_digit(before[0])) return;
  if (shortened == 0) return raise(word, Break::kSentence, '.');
  word.shortened |= shortened;
}

bool WordCursor::next(RawWord& word) {
  read_break(word);
  const auto begin = at_;
  while (at_ < text_.size() && (is_word_byte(text_[at_]) || joins(text_, at_))) ++at_;
  word.text = text_.substr(begin, at_ - begin);
  return at_ > begin;
}

}  // namespace runwarden::plugins
