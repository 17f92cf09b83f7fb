#include "detect/fingerprint.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/digest.h"
#include "base/utf8.h"

namespace runwarden::detect {
namespace {

constexpr std::size_t kPartBytes = 120;
constexpr std::size_t kHashLetters = 8;
constexpr std::size_t kQuotedBytes = 256;  // a quotation mark without a closing one within this distance is an apostrophe or stray
constexpr std::size_t kHexLetters = 8;     // "deadbeef"; no English word of that length is all a to f

bool is_hex(char c) {
  return ascii::is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_word(char c) {
  return ascii::is_alphanumeric(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool joins_numbers(char c) {
  return c == '.' || c == ',' || c == ':' || c == '-' || c == '/' || c == '+' || c == ' ' || c == '@';
}

// The length of the UUID (8-4-4-4-12) at `at`, or 0.
std::size_t uuid_length(std::string_view text, std::size_t at) {
  constexpr std::array<std::size_t, 5> kGroups = {8, 4, 4, 4, 12};
  std::size_t i = at;
  for (std::size_t group = 0; group < kGroups.size(); ++group) {
    if (group > 0 && (i >= text.size() || text[i++] != '-')) return 0;
    for (std::size_t n = 0; n < kGroups[group]; ++n, ++i) {
      if (i >= text.size() || !is_hex(text[i])) return 0;
    }
  }
  return i < text.size() && is_word(text[i]) ? 0 : i - at;
}

bool names_a_date(std::string_view word) {
  static constexpr std::string_view kNames[] = {
      "jan",       "feb",      "mar",    "apr",      "may",    "jun",       "jul",     "aug",      "sep",      "sept",    "oct",
      "nov",       "dec",      "mon",    "tue",      "wed",    "thu",       "fri",     "sat",      "sun",      "january", "february",
      "march",     "april",    "june",   "july",     "august", "september", "october", "november", "december", "monday",  "tuesday",
      "wednesday", "thursday", "friday", "saturday", "sunday", "am",        "pm",      "utc",      "gmt"};
  return std::find(std::begin(kNames), std::end(kNames), word) != std::end(kNames);
}

bool is_opaque(std::string_view word) {
  if (std::any_of(word.begin(), word.end(), ascii::is_digit)) return true;
  return word.size() >= kHexLetters && std::all_of(word.begin(), word.end(), is_hex);
}

// The end of the quoted value that opens at `at`, after the closing mark; 0 if `at` is not an opening mark.
std::size_t quoted_end(std::string_view text, std::size_t at) {
  const char mark = text[at];
  if (mark != '"' && mark != '\'' && mark != '`') return 0;
  if (at > 0 && is_word(text[at - 1])) return 0;
  const std::size_t limit = std::min(text.size(), at + kQuotedBytes);
  for (std::size_t i = at + 1; i < limit; ++i) {
    if (text[i] == mark && (i + 1 == text.size() || !is_word(text[i + 1]))) return i + 1;
  }
  return 0;
}

// Splits a text into words, gaps and values, and rebuilds it with the values masked.
class Masker {
 public:
  explicit Masker(std::string_view text) : text_(text) { out_.reserve(std::min<std::size_t>(text.size(), 4096)); }

  std::string run() {
    std::size_t at = 0;
    while (at < text_.size()) at = step(at);
    while (!out_.empty() && out_.back() == ' ') out_.pop_back();
    return std::move(out_);
  }

 private:
  std::size_t step(std::size_t at) {
    if (const std::size_t end = quoted_end(text_, at); end != 0) {
      out_ += '*';
      return end;
    }
    if (!is_word(text_[at])) {
      gap(text_[at]);
      return at + 1;
    }
    if (const std::size_t length = uuid_length(text_, at); length != 0) {
      value();
      return at + length;
    }
    std::size_t end = at;
    while (end < text_.size() && is_word(text_[end])) ++end;
    word(text_.substr(at, end - at));
    return end;
  }

  void gap(char c) {
    const bool space = static_cast<unsigned char>(c) <= ' ';  // control characters, too
    if (!space) {
      out_ += c;
    } else if (!out_.empty() && out_.back() != ' ') {
      out_ += ' ';
    }
  }

  void word(std::string_view raw) {
    if (is_opaque(raw)) return value();
    const std::size_t begin = out_.size();
    for (const char c : raw) out_ += ascii::to_lower(c);
    if (names_a_date(std::string_view(out_).substr(begin)) && follows_value(begin)) {
      out_.resize(begin);
      value();
    }
  }

  // True if only separators of numbers, dates and times lie between the last "#" and `at`.
  bool follows_value(std::size_t at) const {
    while (at > 0 && joins_numbers(out_[at - 1])) --at;
    return at > 0 && out_[at - 1] == '#';
  }

  // Appends "#". Merges it with a value, or the name of a day or month, right before it.
  void value() {
    std::size_t end = out_.size();
    if (follows_value(end)) {
      while (out_.back() != '#') out_.pop_back();
      return;
    }
    while (end > 0 && joins_numbers(out_[end - 1]) && out_.size() - end < 3) --end;
    std::size_t begin = end;
    while (begin > 0 && is_word(out_[begin - 1]) && end - begin <= 9) --begin;
    if (end < out_.size() && end > begin && names_a_date(std::string_view(out_).substr(begin, end - begin))) {
      out_.resize(begin);
      if (follows_value(begin)) return value();
    }
    out_ += '#';
  }

  std::string_view text_;
  std::string out_;
};

std::string bounded(std::string text) {
  if (text.size() <= kPartBytes) return text;
  std::string hash = to_hex(sha256(text)).substr(0, kHashLetters);
  return std::string(utf8_prefix(text, kPartBytes - kHashLetters - 1)) + "~" + hash;
}

}  // namespace

std::string mask(std::string_view text) {
  return Masker(text).run();
}

std::string fingerprint(std::string_view detector_key, std::string_view step_name, const std::vector<std::string>& parts) {
  std::string out(detector_key);
  for (const std::string& part : parts) {
    out += ':';
    out += bounded(part == step_name ? part : mask(part));
  }
  return out;
}

}  // namespace runwarden::detect
