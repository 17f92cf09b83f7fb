#include "common/facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "common/simd16.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kShortestSpecific = 40;

enum CharClass : std::uint8_t { kLetter = 1, kDigit = 2, kConnects = 4 };

// The class of each byte, as a table, because the loop sees every byte of a run.
constexpr auto kClasses = [] {
  std::array<std::uint8_t, 256> table{};
  for (std::size_t i = 0; i < 256; ++i) {
    if (is_ascii_letter(static_cast<char>(i)) || i >= 0x80) table[i] = kLetter;
    if (is_digit(static_cast<char>(i))) table[i] = kDigit;
  }
  for (const char c : std::string_view("-_./:,@'+")) table[static_cast<unsigned char>(c)] = kConnects;
  return table;
}();

std::uint8_t class_of(char c) {
  return kClasses[static_cast<unsigned char>(c)];
}
bool letter(char c) {
  return class_of(c) == kLetter;
}
bool part(char c) {
  return (class_of(c) & (kLetter | kDigit)) != 0;
}
bool connects(char c) {
  return class_of(c) == kConnects;
}

/// The index of a letter, from a on, as used in openings_.
std::uint32_t letter_number(char c) {
  return static_cast<unsigned char>((c | 0x20) - 'a') & 31u;
}

struct Shape {
  int digits = 0;
  int letters = 0;
  int uppers = 0;
  int signs = 0;
  char sign = 0;  // the only sign used; 0 when there are none or several
};

Shape shape_of(std::string_view word) {
  Shape shape;
  for (const char c : word) {
    if (is_digit(c)) {
      ++shape.digits;
    } else if (letter(c)) {
      ++shape.letters;
      shape.uppers += is_upper(c) ? 1 : 0;
    } else {
      shape.sign = shape.signs == 0 || shape.sign == c ? c : '\0';
      ++shape.signs;
    }
  }
  return shape;
}

int to_int(std::string_view digits) {
  int value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return fault == std::errc{} && end == digits.data() + digits.size() ? value : -1;
}

bool plausible(int month, int day) {
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

// 2026-06-28, 28.06.2026, 06/28/2026, with an optional time after a T.
bool read_numeric_date(std::string_view word, Fact& fact) {
  if (const auto t = word.find_first_of("Tt"); t != std::string_view::npos && t >= 8) word = word.substr(0, t);
  const auto first = word.find_first_of("-/.");
  if (first == std::string_view::npos) return false;
  const auto second = word.find(word[first], first + 1);
  if (second == std::string_view::npos || word.find(word[first], second + 1) != std::string_view::npos) return false;
  const int a = to_int(word.substr(0, first));
  const int b = to_int(word.substr(first + 1, second - first - 1));
  const int c = to_int(word.substr(second + 1));
  if (a < 0 || b < 0 || c < 0) return false;
  int month = 0;
  int day = 0;
  if (first == 4) {
    fact.year = a, month = b, day = c;
  } else if (word.size() - second - 1 == 4 || word.size() - second - 1 == 2) {
    fact.year = c < 100 ? 2000 + c : c;
    month = a, day = b;
    if (word[first] == '.' || !plausible(month, day)) std::swap(month, day);
  }
  if (!plausible(month, day)) return false;
  fact.kind = FactKind::kDate;
  fact.normal = normal_date(month, day);
  return true;
}

bool read_time(std::string_view word, Fact& fact) {
  const auto colon = word.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon > 2) return false;
  int hour = to_int(word.substr(0, colon));
  auto rest = word.substr(colon + 1);
  int half = -1;
  if (rest.size() > 2 && letter(rest[rest.size() - 1]) && letter(rest[rest.size() - 2])) {
    half = rest[rest.size() - 2] == 'p' || rest[rest.size() - 2] == 'P' ? 1 : 0;
    rest = rest.substr(0, rest.size() - 2);
  }
  const int minute = to_int(rest.substr(0, 2));
  if (hour < 0 || hour > 24 || minute < 0 || minute > 59 || rest.size() < 2) return false;
  if (rest.size() > 2 && rest[2] != ':') return false;
  if (half >= 0) hour = hour % 12 + 12 * half;
  fact.kind = FactKind::kTime;
  fact.normal = normal_time(hour, minute);
  fact.number = hour * 60 + minute;
  return true;
}

/// "20:30:00" in "2025-09-01T20:30:00.000+02:00"; empty when there is no time.
std::string_view time_behind_date(std::string_view word) {
  const auto t = word.find_first_of("Tt");
  if (t == std::string_view::npos) return {};
  word.remove_prefix(t + 1);
  return word.substr(0, word.find_first_of("Zz.+-"));
}

bool all_digits_and(std::string_view word, std::string_view signs) {
  return std::all_of(word.begin(), word.end(), [&](char c) { return is_digit(c) || signs.find(c) != std::string_view::npos; });
}

/// Reads a number. `rest` is the text behind it.
bool read_number(std::string_view word, std::string_view rest, const FactWords& words, Fact& fact) {
  std::size_t digits_end = word.size();
  while (digits_end > 0 && letter(word[digits_end - 1])) --digits_end;
  if (digits_end < word.size() && !words.is_unit(word.substr(digits_end))) return false;
  word = word.substr(0, digits_end);
  if (word.empty() || !all_digits_and(word, ".,")) return false;
  const auto amount = parse_amount(word, words.begins_with_currency(rest));
  if (!amount) return false;
  fact.kind = FactKind::kNumber;
  fact.number = amount->value;
  fact.normal = normal_number(amount->value);
  const bool year = amount->value >= 1900 && amount->value <= 2100 && word.size() == 4;
  fact.strong = !year && (word.find_first_of(".,") != std::string_view::npos ? word.size() >= 4 : word.size() >= 3);
  return true;
}

/// True for a word with characters of a script without blanks: they are not part of a figure beside them.
bool has_ideographs(std::string_view word) {
  constexpr unsigned char kFirst = 0xE3;  // lead byte of U+3000 and beyond in UTF-8
  return std::any_of(word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) >= kFirst; });
}

/// "843-acre", "666/passenger": a quantity, not an id.
bool read_quantity(std::string_view word, const FactWords& words, Fact& fact) {
  constexpr std::size_t kShortestNoun = 3;
  const auto sign = word.find_first_of("-/");
  if (sign == std::string_view::npos || sign == 0 || word.size() - sign <= kShortestNoun) return false;
  const auto noun = word.substr(sign + 1);
  const auto plain = [](char c) { return c >= 'a' && c <= 'z'; };
  return std::all_of(noun.begin(), noun.end(), plain) && read_number(word.substr(0, sign), {}, words, fact);
}

/// "4h29m", "2h": a duration, which each source words in its own way.
bool is_duration(std::string_view word) {
  const auto hours = word.find_first_not_of("0123456789");
  if (hours == 0 || hours == std::string_view::npos || (word[hours] != 'h' && word[hours] != 'H')) return false;
  auto rest = word.substr(hours + 1);
  while (!rest.empty() && is_digit(rest[0])) rest.remove_prefix(1);
  return rest.empty() || rest == "m" || rest == "min" || rest == "M";
}

/// "112-147", "L75-L80", "10-100ms": from one number to a greater one. Its ends may be found apart, so it is not the id of a record.
bool is_span(std::string_view word) {
  constexpr std::size_t kMostDigits = 3, kMostWithLetters = 5, kLongestUnit = 2;
  const auto dash = word.find('-');
  if (dash == 0 || dash + 1 >= word.size()) return false;
  auto from = word.substr(0, dash);
  auto to = word.substr(dash + 1);
  const bool lettered = letter(from[0]) && from[0] == to[0];
  if (lettered) {
    from.remove_prefix(1);
    to.remove_prefix(1);
  }
  const auto digits = std::min(to.find_first_not_of("0123456789"), to.size());
  const auto unit = to.substr(digits);
  to = to.substr(0, digits);
  if (from.empty() || to.empty() || from[0] == '0' || to[0] == '0' || !all_digits_and(from, "") || unit.size() > kLongestUnit) return false;
  if (!std::all_of(unit.begin(), unit.end(), letter)) return false;
  const bool plain = !lettered && unit.empty();
  if (plain ? from.size() != to.size() || to.size() > kMostDigits : to.size() > kMostWithLetters) return false;
  return from.size() != to.size() ? from.size() < to.size() : from < to;
}

bool read_id(std::string_view word, const Shape& shape, Fact& fact) {
  if (shape.digits == 0 || shape.letters == 0) {
    // "12-345-6": digits and signs only.
    if (shape.digits < 5 || shape.signs == 0) return false;
  }
  const bool long_enough = shape.digits + shape.letters >= 4 || (shape.uppers > 0 && shape.digits + shape.letters >= 3);
  if (!long_enough || (shape.digits < 2 && shape.uppers == 0 && shape.signs == 0)) return false;
  if (word.size() > 120) return false;
  fact.kind = FactKind::kId;
  fact.normal = normal_id(word);
  // "32GB-model", "10-inch" and "5-star" are descriptions; "1999-2012" and "2001-12" are spans of years.
  const bool years = shape.letters == 0 && word.size() <= 9 && word.size() >= 7 && (word[4] == '-' || word[4] == '/') &&
                     (word[0] == '1' || word[0] == '2');
  // "late-1990s" is a time.
  const bool decade = word.size() > 5 && word.back() == 's' && word[word.size() - 6] == '-' && is_digit(word[word.size() - 2]);
  fact.strong = !years && !decade && !is_span(word) && (shape.digits >= 3 || (shape.uppers > 0 && shape.digits >= 1 && shape.signs == 0));
  return true;
}

class Collector {
 public:
  Collector(std::string_view text, const FactWords& words, std::vector<Fact>& out) : text_(text), words_(words), out_(out) {}

  void run() {
    while (at_ < text_.size()) {
      if (day_ == 0 && at_ >= digit_at_) pass_over();
      if (at_ >= text_.size()) return;
      if (!part(text_[at_])) {
        ++at_;
        continue;
      }
      const auto begin = at_;
      bool signs = false;
      std::uint8_t classes = 0;
      for (; at_ < text_.size(); ++at_) {
        const auto kind = class_of(text_[at_]);
        if ((kind & (kLetter | kDigit)) == 0) {
          if (kind != kConnects || at_ + 1 >= text_.size() || !part(text_[at_ + 1]) || !(inner(at_) || is_decimal_comma(begin))) break;
          signs = true;
        }
        classes |= kind;
      }
      const auto found = text_.substr(begin, at_ - begin);
      if ((classes & kDigit) != 0) {
        word(begin, found);
      } else {
        plain_word(begin, found, signs);
      }
    }
  }

 private:
  /// Skips words without a digit, which are not facts, to the beginning of the next word with one. The search never visits a byte twice.
  void pass_over() {
    auto next = find_digit(text_, at_);
    digit_at_ = next + 1;
    while (next > at_ && next < text_.size() && (part(text_[next - 1]) || connects(text_[next - 1]))) --next;
    at_ = next;
  }

  // A comma or colon connects only digits; other signs connect anything.
  [[nodiscard]] bool inner(std::size_t at) const {
    const char c = text_[at];
    if (c == ',') {
      return is_digit(text_[at - 1]) && at + 3 < text_.size() && is_digit(text_[at + 1]) && is_digit(text_[at + 2]) &&
             is_digit(text_[at + 3]) && (at + 4 >= text_.size() || !is_digit(text_[at + 4]));
    }
    if (c == ':') return is_digit(text_[at - 1]) && is_digit(text_[at + 1]);
    return true;
  }

  /// "1.250,50", "84,50 €": true for a comma at at_ before two digits, in a number that begins at `begin` and has groups of three digits or
  /// a currency. Between other numbers it lists them: "rows 12,40".
  [[nodiscard]] bool is_decimal_comma(std::size_t begin) const {
    constexpr std::size_t kLongest = 16;
    if (text_[at_] != ',' || at_ + 2 >= text_.size() || !is_digit(text_[at_ + 1]) || !is_digit(text_[at_ + 2])) return false;
    const auto rest = text_.substr(at_ + 3);
    if (!rest.empty() && (part(rest[0]) || (rest.size() > 1 && (rest[0] == ',' || rest[0] == '.') && is_digit(rest[1])))) {
      if (words_.money_sign(rest) == 0) return false;
    }
    auto whole = text_.substr(begin, at_ - begin);
    whole.remove_prefix(static_cast<unsigned char>(whole[0]) >= 0x80 ? words_.money_sign(whole) : 0);
    if (whole.empty() || whole.size() > kLongest || !all_digits_and(whole, ".")) return false;
    const auto point = whole.rfind('.');
    if (point != std::string_view::npos) return whole.size() - point == 4;
    return words_.begins_with_currency(rest) || whole.size() < at_ - begin || money_before(begin);
  }

  [[nodiscard]] bool money_before(std::size_t begin) const {
    if (begin == 0) return false;
    return words_.ends_with_currency(text_.substr(0, begin));
  }

  /// A web address states nothing, whatever digits it contains.
  [[nodiscard]] bool in_address(std::size_t begin, std::string_view word) const {
    if (begin >= 2 && text_[begin - 1] == '/' && (text_[begin - 2] == '/' || part(text_[begin - 2]) || text_[begin - 2] == '*'))
      return true;
    // "main.go#L65": a line of a file.
    if (begin >= 2 && text_[begin - 1] == '#' && part(text_[begin - 2]) && word.size() >= 2 && word[0] == 'L' && is_digit(word[1]))
      return true;
    if (begin >= 1 && (text_[begin - 1] == '?' || text_[begin - 1] == '=' || text_[begin - 1] == '&' || text_[begin - 1] == '%'))
      return true;
    const auto dot = word.find('.');
    return dot != std::string_view::npos && dot > 0 && word.find('/', dot) != std::string_view::npos && letter(word[dot - 1]);
  }

  /// A word without a digit matters only after a day: "28 June", "28 de junio", "28. Juni".
  void plain_word(std::size_t begin, std::string_view word, bool signs) {
    if (day_ == 0) return;
    const auto month = signs ? FactWords::Month{} : words_.month(word);
    if (month.number != 0 && words_.join(text_.substr(day_end_, begin - day_end_), month.languages)) {
      if (!out_.empty() && out_.back().text.data() == text_.data() + day_begin_) out_.pop_back();
      add_date(month.number, day_, day_begin_, begin + word.size());
    } else if (!words_.is_joiner(word)) {
      day_ = 0;
    }
  }

  void word(std::size_t begin, std::string_view word) {
    if (static_cast<unsigned char>(word[0]) >= 0x80) {
      const auto sign = words_.money_sign(word);
      begin += sign;
      word.remove_prefix(sign);
    }
    while (word.ends_with("\xC2\xB2") || word.ends_with("\xC2\xB3")) word.remove_suffix(2);  // "962.21\u00B2": a square
    if (word.empty() || in_address(begin, word) || has_ideographs(word)) return;
    const auto shape = shape_of(word);
    Fact fact;
    fact.text = word;
    const bool hash = begin > 0 && text_[begin - 1] == '#';
    if (shape.signs > 0 && read_numeric_date(word, fact)) {
      add(fact);
      Fact time;
      time.text = time_behind_date(word);
      if (read_time(time.text, time)) add(time);
      return;
    }
    if (shape.signs > 0 && read_time(word, fact)) return add(fact);
    if (read_number(word, text_.substr(begin + word.size()), words_, fact)) {
      if (complete_date(static_cast<int>(fact.number), begin, begin + word.size())) return;
      day_ = fact.number >= 1 && fact.number <= 31 && fact.number == std::floor(fact.number) ? static_cast<int>(fact.number) : 0;
      day_end_ = begin + word.size();
      day_begin_ = begin;
      fact.money = money_before(begin);
      fact.strong |= hash || (fact.money && word.size() >= 2);
      if (hash) fact.kind = FactKind::kId, fact.normal = normal_id(word);
      return add(fact);
    }
    day_ = 0;
    if (is_duration(word)) return;
    if (read_quantity(word, words_, fact)) {
      fact.money = money_before(begin);
      return add(fact);
    }
    if (!read_id(word, shape, fact)) return;
    fact.strong &= !is_shortened(begin, word);
    add(fact);
  }

  /// "...neju83tr", "9f96fc…": a part of an id, which stands nowhere as a word.
  [[nodiscard]] bool is_shortened(std::size_t begin, std::string_view word) const {
    constexpr std::string_view kDots = "...", kEllipsis = "\xE2\x80\xA6";  // the latter counts as a part of the word
    const bool dots = text_.substr(0, begin).ends_with(kDots) || text_.substr(begin + word.size()).starts_with(kDots);
    return dots || word.starts_with(kEllipsis) || word.ends_with(kEllipsis);
  }

  struct Month {
    int number = 0;  // 0 for none
    std::size_t begin = 0;
  };

  /// The capitalized month right before a number.
  [[nodiscard]] Month month_before(std::size_t number) const {
    if (number <= date_end_ || text_[number - 1] != ' ') return {};
    const auto end = number - 1;
    auto begin = end;
    while (begin > date_end_ && end - begin <= words_.longest_month() && letter(text_[begin - 1])) --begin;
    if (begin == end || !is_upper(text_[begin])) return {};
    const bool joined =
        begin > 0 && (part(text_[begin - 1]) || (begin > 1 && connects(text_[begin - 1]) && part(text_[begin - 2]) && inner(begin - 1)));
    return joined ? Month{} : Month{words_.month(text_.substr(begin, end - begin)).number, begin};
  }

  // "June 28", and the year after a date.
  bool complete_date(int number, std::size_t begin, std::size_t end) {
    if (number >= 1 && number <= 31) {
      const auto month = month_before(begin);
      if (month.number != 0) {
        add_date(month.number, number, month.begin, end);
        return true;
      }
    }
    if (!out_.empty() && out_.back().kind == FactKind::kDate && out_.back().year == 0 && number >= 1900 && number <= 2100 &&
        begin - date_end_ <= 4) {
      out_.back().year = number;
      return true;
    }
    return false;
  }

  void add_date(int month, int day, std::size_t begin, std::size_t end) {
    Fact fact;
    fact.kind = FactKind::kDate;
    fact.normal = normal_date(month, day);
    fact.text = text_.substr(begin, end - begin);
    date_end_ = end;
    day_ = 0;
    out_.push_back(fact);
  }

  void add(const Fact& fact) {
    if (fact.kind == FactKind::kDate) date_end_ = at_;
    out_.push_back(fact);
  }

  std::string_view text_;
  const FactWords& words_;
  std::vector<Fact>& out_;
  std::size_t at_ = 0;
  std::size_t digit_at_ = 0;  // behind the last digit found
  int day_ = 0;
  std::size_t day_begin_ = 0;
  std::size_t day_end_ = 0;
  std::size_t date_end_ = 0;
};

}  // namespace

namespace {

constexpr std::size_t kMostNames = 64;
constexpr std::size_t kLongestTitle = 160;

bool capitalized(std::string_view word) {
  return word.size() >= 2 && (is_upper(word[0]) || static_cast<unsigned char>(word[0]) >= 0xC3) && !is_upper(word[1]) && letter(word[1]);
}

void add_new(std::string_view text, std::vector<std::string_view>& out) {
  if (out.size() < kMostNames && std::find(out.begin(), out.end(), text) == out.end()) out.push_back(text);
}

std::size_t count_space_separated_words(std::string_view text) {
  std::size_t words = 0;
  for (std::size_t i = 0; i < text.size(); ++i) words += letter(text[i]) && (i == 0 || text[i - 1] == ' ') ? 1u : 0u;
  return words;
}

/// Reads a quoted text that begins at `at`; returns its end, or `at` when the quotation does not close in time.
std::size_t read_title(std::string_view text, std::size_t at, std::vector<std::string_view>& titles) {
  const auto end = text.find_first_of("\"\n", at + 1);
  if (end == std::string_view::npos || text[end] != '"' || end - at > kLongestTitle) return at;
  const auto title = text.substr(at + 1, end - at - 1);
  const bool sentence = !title.empty() && (title.back() == '.' || title.back() == '?' || title.back() == '!' || title.back() == ',');
  if (!title.empty() && (is_upper(title[0]) || is_digit(title[0])) && !sentence && count_space_separated_words(title) >= 3)
    add_new(title, titles);
  return end;
}

}  // namespace

void collect_names(std::string_view text, std::vector<std::string_view>& names, std::vector<std::string_view>& titles) {
  names.clear();
  titles.clear();
  bool fresh = true;  // a sentence, heading or line begins here
  std::size_t begin = 0;
  std::size_t end = 0;
  int words = 0;
  const auto close = [&] {
    if (words >= 2 && words <= 4) add_new(text.substr(begin, end - begin), names);
    words = 0;
  };
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      close();
      const auto past = read_title(text, i, titles);
      i = past + 1;
      continue;
    }
    if (!letter(c)) {
      if (c != ' ' || (i > 0 && text[i - 1] == ' ')) close();
      fresh = fresh ? c != '(' && c != '-' : (c == '.' || c == '!' || c == '?' || c == ':' || c == '\n' || c == '#' || c == '*');
      ++i;
      continue;
    }
    const auto start = i;
    while (i < text.size() && (letter(text[i]) || is_digit(text[i]) || text[i] == '\'')) ++i;
    if (capitalized(text.substr(start, i - start)) && (words > 0 || !fresh)) {
      if (words++ == 0) begin = start;
      end = i;
    } else {
      close();
    }
    fresh = false;
  }
  close();
}

void collect_items(std::string_view text, std::vector<std::string_view>& names) {
  constexpr std::size_t kLongestItem = 60;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto digits = std::min(line.find_first_not_of("0123456789"), line.size());
    const bool numbered = digits > 0 && digits < 4 && digits < line.size() && (line[digits] == '.' || line[digits] == ')');
    if (!numbered && !(line.starts_with("- ") || line.starts_with("* "))) continue;
    line = trim(line.substr(numbered ? digits + 1 : 1));
    while (line.starts_with('*') || line.starts_with('"')) line.remove_prefix(1);
    line = trim(line.substr(0, line.find_first_of("*\":(\t,;")));
    if (line.size() > kLongestItem || line.find_first_of("0123456789.!?") != std::string_view::npos) continue;
    const auto words = count_space_separated_words(line);
    const auto last = line.rfind(' ');
    if (words < 2 || words > 5 || last == std::string_view::npos) continue;
    if (capitalized(line.substr(0, line.find(' '))) && capitalized(line.substr(last + 1))) add_new(line, names);
  }
}

std::uint64_t normal_id(std::string_view text) {
  IdHash hash;
  for (const char c : text) {
    if (part(c)) hash.add(c);
  }
  return hash.value();
}

std::uint64_t normal_number(double value) {
  return mix(0x4E, static_cast<std::uint64_t>(std::llround(std::clamp(std::abs(value), 0.0, 9e12) * 1000)));
}

std::uint64_t normal_date(int month, int day) {
  return mix(0xDA, static_cast<unsigned>(month * 32 + day));
}

std::uint64_t normal_time(int hour, int minute) {
  return mix(0x71, static_cast<unsigned>((hour % 12) * 60 + minute));
}

std::optional<Amount> parse_amount(std::string_view digits, bool currency_follows) {
  constexpr std::size_t kGroup = 3;
  const auto last = digits.find_last_of(".,");
  const auto behind = last == std::string_view::npos ? 0 : digits.size() - last - 1;
  const bool single = last != std::string_view::npos && digits.find_first_of(".,") == last;
  const bool mixed = last != std::string_view::npos && digits.find(digits[last] == '.' ? ',' : '.') != std::string_view::npos;
  const bool grouped = last != std::string_view::npos && behind == kGroup && (!single || digits[last] == ',' || currency_follows) && !mixed;
  const bool decimal = last != std::string_view::npos && !grouped;
  const auto signs = std::count(digits.begin(), digits.end(), decimal ? digits[last] : '\0');
  if (signs > 1) return std::nullopt;
  std::string plain;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (is_digit(digits[i])) plain += digits[i];
    if (decimal && i == last) plain += '.';
  }
  Amount amount{0, decimal ? behind : 0};
  const auto [end, fault] = std::from_chars(plain.data(), plain.data() + plain.size(), amount.value);
  if (fault != std::errc{} || end != plain.data() + plain.size()) return std::nullopt;
  return amount;
}

void collect_facts(std::string_view text, std::vector<Fact>& out, const FactWords& words) {
  out.clear();
  Collector(text, words, out).run();
}

FactWords::FactWords(const Vocabulary& vocabulary)
    : units_(vocabulary.words(Key::kUnits)),
      money_signs_(vocabulary.words(Key::kMoneySigns)),
      currency_codes_(vocabulary.words(Key::kCurrencyCodes)),
      how_many_(vocabulary.words(Key::kHowMany)) {
  for (const auto& sign : money_signs_) money_openings_[static_cast<unsigned char>(sign[0])] = true;
  constexpr int kMonthsOfAYear = 12;
  std::array<int, Vocabulary::kMostLanguages> read{};
  vocabulary.each(Key::kMonths, [&](std::string_view names, std::size_t language) {
    const int number = read[language]++ % kMonthsOfAYear + 1;
    WordCursor cursor(names);
    for (RawWord name; cursor.next(name);) add_month(name.text, number, language);
  });
  vocabulary.each(Key::kDateJoiners, [&](std::string_view text, std::size_t language) {
    joiners_.push_back({std::string(text), LanguageSet{1} << language});
  });
  for (const std::string_view line : vocabulary.words(Key::kSpokenSigns)) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || equals + 2 != line.size()) {
      throw std::invalid_argument("/vocabulary: spoken_signs: \"" + std::string(line) + "\" is not a word, \"=\" and one letter or digit");
    }
    spoken_.emplace_back(line.substr(0, equals), line[equals + 1]);
  }
  std::sort(spoken_.begin(), spoken_.end());
}

std::size_t FactWords::money_sign(std::string_view text) const {
  if (text.empty() || !money_openings_[static_cast<unsigned char>(text[0])]) return 0;
  const auto found = std::find_if(money_signs_.begin(), money_signs_.end(), [&](const auto& sign) { return text.starts_with(sign); });
  return found == money_signs_.end() ? 0 : found->size();
}

std::size_t FactWords::currency_code(std::string_view text) const {
  const auto found = std::find_if(currency_codes_.begin(), currency_codes_.end(), [&](const auto& code) { return text.starts_with(code); });
  return found == currency_codes_.end() ? 0 : found->size();
}

bool FactWords::ends_with_currency(std::string_view text) const {
  const auto ends = [&](const auto& sign) { return text.ends_with(sign); };
  if (std::any_of(money_signs_.begin(), money_signs_.end(), ends)) return true;
  if (!text.ends_with(' ')) return false;
  text.remove_suffix(1);
  return std::any_of(currency_codes_.begin(), currency_codes_.end(), ends);
}

bool FactWords::begins_with_currency(std::string_view text) const {
  text = text.substr(std::min(text.find_first_not_of(' '), text.size()));
  if (money_sign(text) != 0) return true;
  const auto code = currency_code(text);
  return code != 0 && (text.size() == code || !is_letter_or_digit(text[code]));
}

char FactWords::spoken(std::string_view word) const {
  const auto at = std::lower_bound(spoken_.begin(), spoken_.end(), word, [](const auto& sign, auto wanted) { return sign.first < wanted; });
  return at != spoken_.end() && at->first == word ? at->second : '\0';
}

bool FactWords::asks_how_many(std::string_view text) const {
  constexpr std::size_t kLongest = 2000;
  std::string folded;
  fold(cut(text, kLongest), folded);
  return holds_any(folded, how_many_);
}

const FactWords& FactWords::shipped() {
  static const FactWords kWords{Vocabulary()};
  return kWords;
}

void FactWords::add_month(std::string_view name, int number, std::size_t language) {
  const auto known = std::find_if(months_.begin(), months_.end(), [&](const Name& month) { return month.text == name; });
  if (known != months_.end()) {
    known->languages |= LanguageSet{1} << language;
    return;
  }
  if (name.size() < 2) return;
  months_.push_back({std::string(name), number, LanguageSet{1} << language});
  openings_[letter_number(name[0])] |= 1u << letter_number(name[1]);
  longest_ = std::max(longest_, name.size() + 1);  // a letter with a diacritic takes two bytes
}

FactWords::Month FactWords::month(std::string_view word) const {
  constexpr std::size_t kShortest = 3;
  constexpr std::size_t kLongestShort = 4;
  std::string folded;
  if (std::any_of(word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    if (word.size() > longest_) return {};
    fold(word, folded);
    word = folded;
  }
  if (word.size() < kShortest || word.size() > longest_) return {};
  if ((openings_[letter_number(word[0])] >> letter_number(word[1]) & 1) == 0) return {};
  Month found;
  for (const auto& name : months_) {
    const bool begins = word.size() <= name.text.size() && equal_ignoring_case(word, std::string_view(name.text).substr(0, word.size()));
    if (!begins || (word.size() != name.text.size() && word.size() > kLongestShort)) continue;
    if (found.number != 0 && found.number != name.number) continue;
    found.number = name.number;
    found.languages |= name.languages;
  }
  return found;
}

bool FactWords::join(std::string_view between, LanguageSet languages) const {
  if (between == " ") return true;
  if (between.empty() || between.back() != ' ') return false;
  between.remove_suffix(1);
  return std::any_of(joiners_.begin(), joiners_.end(), [&](const Joiner& joiner) {
    if ((joiner.languages & languages) == 0) return false;
    const bool word = is_word_byte(joiner.text[0]);
    return word ? !between.empty() && between[0] == ' ' && between.substr(1) == joiner.text : between == joiner.text;
  });
}

bool FactWords::is_joiner(std::string_view word) const {
  return std::any_of(joiners_.begin(), joiners_.end(), [&](const Joiner& joiner) { return joiner.text == word; });
}

bool FactWords::is_unit(std::string_view letters) const {
  return std::any_of(units_.begin(), units_.end(), [&](const auto& unit) { return equal_ignoring_case(letters, unit); });
}

bool is_specific(std::string_view text, const std::vector<Fact>& facts) {
  const auto body = trim(text);
  if (cut(body, kShortestSpecific - 1).size() == body.size()) return false;
  return std::any_of(facts.begin(), facts.end(), [](const Fact& fact) { return fact.strong; });
}

}  // namespace runwarden::plugins
