#include "schema_ghost/examples.h"

#include <algorithm>
#include <iterator>

#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::uint64_t kSigns = kCueSimulated | kCueExample;

std::size_t line_end(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

bool is_item(std::string_view line) {
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return false;
  const char c = line[first];
  return first > 0 || c == '-' || c == '*' || c == '|' || c == '+' || is_digit(c);
}

bool is_heading(std::string_view line) {
  line = trim(line);
  return line.starts_with('#') || (line.starts_with("**") && line.ends_with("**") && line.size() > 4);
}

/// True when the text ends with a colon, ignoring emphasis marks.
bool introduces(std::string_view text) {
  const auto last = text.find_last_not_of(" \t\r\n*_");
  return last != std::string_view::npos && text[last] == ':';
}

/// The end of the list or paragraph after the line that introduces it.
std::size_t end_of_list(std::string_view text, std::size_t at) {
  bool any = false;
  bool parted = false;  // the previous line was blank
  while (at < text.size()) {
    const auto begin = at + 1;
    const auto end = line_end(text, begin);
    const auto line = text.substr(std::min(begin, text.size()), end - std::min(begin, end));
    const bool blank_line = trim(line).empty();
    if (any && parted && !blank_line && !is_item(line)) return at;
    any |= !blank_line;
    parted = blank_line;
    at = end;
  }
  return at;
}

bool ends_sentence(std::string_view text, std::size_t at, const Abbreviations& abbreviations) {
  const char c = text[at];
  if (c != '.' && c != '!' && c != '?') return false;
  if (at + 1 < text.size() && text[at + 1] != ' ' && text[at + 1] != '*' && text[at + 1] != '"') return false;
  return c != '.' || abbreviations.of(word_before(text, at)) == 0;
}

}  // namespace

std::vector<Examples::Piece> Examples::split(std::string_view text, const Abbreviations& abbreviations) {
  std::vector<Piece> pieces;
  for (std::size_t line = 0; line < text.size();) {
    const auto end = line_end(text, line);
    for (auto begin = line; begin < end;) {
      auto at = begin;
      while (at < end && !ends_sentence(text, at, abbreviations)) ++at;
      const auto past = std::min(at + 1, end);
      pieces.push_back({begin, past, end, line});
      begin = past;
    }
    line = end + 1;
  }
  return pieces;
}

/// True when every word that marks an example is in parentheses: "on the first day (e.g. Monday)".
bool Examples::aside() const {
  int open = 0;
  std::size_t at = 0;
  for (const auto& word : reading_.words) {
    const auto begin = static_cast<std::size_t>(word.text.data() - reading_.folded.data());
    for (; at < begin; ++at) open += reading_.folded[at] == '(' ? 1 : reading_.folded[at] == ')' ? -1 : 0;
    if ((word.cues & kSigns) != 0 && open <= 0) return false;
  }
  return true;
}

bool Examples::states(const Piece& piece) const {
  const auto first = std::lower_bound(stated_.begin(), stated_.end(), piece.begin);
  return first != stated_.end() && *first < piece.end;
}

/// The end of the text that a sentence with such a word marks as an example.
std::size_t Examples::reach(const Piece& piece, std::string_view text) const {
  const bool invented = (reading_.cues & kCueSimulated) != 0;
  const auto line = text.substr(piece.line_begin, piece.line_end - piece.line_begin);
  const bool opens = piece.end == piece.line_end && introduces(text.substr(piece.begin, piece.line_end - piece.begin));
  if (invented && (opens || piece.begin == 0 || (piece.begin == piece.line_begin && is_heading(line)))) return text.size();
  if (!invented && aside()) return piece.end;
  if (opens) return end_of_list(text, piece.line_end);
  return states(piece) ? piece.line_end : piece.end;
}

void Examples::read(std::string_view text, const Lexicon& lexicon, const std::vector<std::string_view>& specifics) {
  begin_ = text.data();
  spans_.clear();
  stated_.clear();
  for (const auto part : specifics) stated_.push_back(static_cast<std::size_t>(part.data() - begin_));
  std::sort(stated_.begin(), stated_.end());
  const auto language = language_of(text, lexicon);
  for (const auto& piece : split(text, lexicon.abbreviations)) {
    if (!spans_.empty() && spans_.back().end == text.size()) return;
    read_words(text.substr(piece.begin, piece.end - piece.begin), lexicon, reading_, language);
    read_meaning(lexicon, reading_, false);
    if ((reading_.cues & kSigns) == 0) continue;
    if ((reading_.cues & kCueSimulated) != 0 && !states(piece)) {
      spans_ = {{0, text.size()}};
      return;
    }
    const bool covered = !spans_.empty() && piece.begin < spans_.back().end;
    if (covered && (reading_.cues & kCueSimulated) == 0) continue;
    const auto end = reach(piece, text);
    if (!covered) spans_.push_back({piece.begin, end});
    spans_.back().end = std::max(spans_.back().end, end);
  }
}

void Examples::read_offers(std::string_view text, const Lexicon& lexicon) {
  begin_ = text.data();
  spans_.clear();
  const auto language = language_of(text, lexicon);
  for (const auto& piece : split(text, lexicon.abbreviations)) {
    if (!spans_.empty() && piece.end <= spans_.back().end) continue;
    read_words(text.substr(piece.begin, piece.end - piece.begin), lexicon, reading_, language);
    read_meaning(lexicon, reading_, false);
    if (!reading_.asks() && (reading_.cues & kCueOffer) == 0) continue;
    const bool opens = piece.end == piece.line_end && introduces(text.substr(piece.begin, piece.end - piece.begin));
    if (spans_.empty() || spans_.back().end <= piece.begin) spans_.push_back({piece.begin, piece.end});
    if (opens) spans_.back().end = std::max(spans_.back().end, end_of_list(text, piece.line_end));
  }
}

const Examples::Span* Examples::span_of(std::string_view part) const {
  const auto at = static_cast<std::size_t>(part.data() - begin_);
  const auto past = std::upper_bound(spans_.begin(), spans_.end(), at, [](auto place, const Span& span) { return place < span.begin; });
  return past != spans_.begin() && at < std::prev(past)->end ? &*std::prev(past) : nullptr;
}

bool Examples::hold_aside(std::string_view part) const {
  constexpr std::size_t kLongest = 160;  // bytes of a remark before the value
  const auto* const span = span_of(part);
  if (span == nullptr) return false;
  const auto at = static_cast<std::size_t>(part.data() - begin_);
  const auto from = std::max(span->begin, at - std::min(at, kLongest));
  const auto bracket = std::string_view(begin_ + from, at - from).find_last_of("()");
  return bracket != std::string_view::npos && begin_[from + bracket] == '(';
}

}  // namespace runwarden::plugins
