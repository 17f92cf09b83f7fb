#include "common/evidence_index.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "common/simd16.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kMostNumbers = 192;  // each ungrounded number is tried against pairs of them
constexpr std::size_t kMostPercents = 8;

/// Characters that connect the parts of a date, an amount or an id.
bool joins(char c) {
  return c == '-' || c == '.' || c == '/' || c == ':' || c == ',' || c == '_';
}

bool is_wide(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

bool near(double a, double b) {
  return std::abs(a - b) < 0.006 + std::abs(b) * 1e-9;
}

}  // namespace

void EvidenceIndex::clear() {
  numbers_.clear();
  percents_.clear();
  sorted_ = false;
  known_.clear();
}

void EvidenceIndex::add_number(double value) {
  if (known_.contains(normal_number(value))) return;
  known_.insert(normal_number(value));
  if (numbers_.size() == kMostNumbers) numbers_.erase(numbers_.begin(), numbers_.begin() + kMostNumbers / 4);
  numbers_.push_back(value);
  sorted_ = false;
}

void EvidenceIndex::add_spelled(std::string_view text) {
  const auto joined = [&](std::size_t at) { return joins(text[at]) && at + 1 < text.size() && is_letter_or_digit(text[at + 1]); };
  std::size_t done = 0;
  for (std::size_t i = find_digit(text, 0); i < text.size(); i = find_digit(text, done)) {
    auto begin = i;
    while (begin > done &&
           (is_letter_or_digit(text[begin - 1]) || (begin - 1 > done && joins(text[begin - 1]) && is_letter_or_digit(text[begin - 2]))))
      --begin;
    bool wide = false;
    for (done = begin; done < text.size() && (is_letter_or_digit(text[done]) || joined(done)); ++done) wide |= is_wide(text[done]);
    add_joined(text.substr(begin, done - begin));
    // A currency sign, or text in a script without blanks, around a figure.
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(done);
    for (auto at = text.begin() + static_cast<std::ptrdiff_t>(begin); wide && at != end;) {
      const auto first = std::find_if_not(at, end, is_wide);
      at = std::find_if(first, end, is_wide);
      add_joined({first, at});
    }
  }
}

/// Adds the words with digits in a span without blanks, and what they form together.
void EvidenceIndex::add_joined(std::string_view span) {
  IdHash whole;
  IdHash word;
  bool digit = false;
  bool signs = false;
  for (const char c : span) {
    if (is_letter_or_digit(c)) {
      whole.add(c);
      word.add(c);
      digit |= is_digit(c);
      continue;
    }
    if (digit) known_.insert(word.value());
    word = {};
    digit = false;
    signs = true;
  }
  if (digit) known_.insert(word.value());
  if (signs) known_.insert(whole.value());
}

void EvidenceIndex::add_words(std::string_view text) {
  for_each_word(text, [&](std::string_view word) {
    known_.insert(normal_id(word));
    return true;
  });
}

/// "datetime(2024, 5, 15, 18, 30)", as scripts print a moment: adds its date and time.
void EvidenceIndex::add_moments(std::string_view text) {
  constexpr std::string_view kOpens[] = {"datetime(", "date(", "time("};
  constexpr std::size_t kLongestMoment = 48;
  for (auto at = text.find('('); at != std::string_view::npos; at = text.find('(', at + 1)) {
    const auto before = text.substr(0, at + 1);
    if (std::none_of(std::begin(kOpens), std::end(kOpens), [&](auto open) { return before.ends_with(open); })) continue;
    auto parts = text.substr(at + 1, kLongestMoment);
    parts = parts.substr(0, parts.find(')'));
    std::array<int, 5> moment{};  // year, month, day, hour, minute
    std::size_t read = before.ends_with("datetime(") || before.ends_with("date(") ? 0 : 3;
    for (std::size_t i = 0; i < parts.size() && read < moment.size(); ++i) {
      if (!is_digit(parts[i])) continue;
      const auto [end, fault] = std::from_chars(parts.data() + i, parts.data() + parts.size(), moment[read]);
      if (fault != std::errc{}) break;
      i = static_cast<std::size_t>(end - parts.data());
      ++read;
    }
    const auto within = [](int value, int low, int high) { return value >= low && value <= high; };
    if (within(moment[1], 1, 12) && within(moment[2], 1, 31)) known_.insert(normal_date(moment[1], moment[2]));
    if (read == moment.size() && within(moment[3], 0, 23) && within(moment[4], 0, 59)) known_.insert(normal_time(moment[3], moment[4]));
  }
}

void EvidenceIndex::add_spoken(std::string_view text) {
  constexpr std::size_t kFewestSigns = 4;
  std::string folded;
  fold(text, folded);
  std::string code;
  std::size_t words = 0;
  const auto close = [&] {
    if (words >= kFewestSigns) known_.insert(normal_id(code));
    code.clear();
    words = 0;
  };
  WordCursor cursor(folded);
  for (RawWord word; cursor.next(word);) {
    const bool digits = std::all_of(word.text.begin(), word.text.end(), is_digit);
    const char sign = word.text.size() == 1 ? word.text[0] : words_->spoken(word.text);
    if (word.before >= Break::kClause || (sign == '\0' && !digits)) close();
    if (sign == '\0' && !digits) continue;
    if (sign != '\0') {
      code += sign;
    } else {
      code += word.text;
    }
    ++words;
  }
  close();
}

void EvidenceIndex::add_facts(std::string_view text) {
  if (text.empty()) return;
  add_moments(text);
  const auto plain = with_plain_signs(text, plain_);
  if (plain.data() != text.data()) add_spelled(plain);
  text = plain;
  collect_facts(text, facts_, *words_);
  double sum = 0;
  std::size_t summed = 0;
  for (const auto& fact : facts_) {
    if (fact.kind == FactKind::kNumber) {
      add_number(fact.number);
      const auto behind = static_cast<std::size_t>(fact.text.data() - text.data()) + fact.text.size();
      const bool percent = trim(text.substr(behind, 2)).starts_with('%');
      if (percent && percents_.size() < kMostPercents) percents_.push_back(fact.number);
      sum += fact.number;
      ++summed;
    } else {
      known_.insert(fact.normal);
    }
  }
  if (summed <= 1) return;
  add_number(sum);
  add_number(sum / static_cast<double>(summed));
}

/// True when the value is a known length, weight, volume, time or temperature in another unit.
bool EvidenceIndex::converts(double value) const {
  constexpr double kFactors[] = {1.609344, 0.3048, 2.54, 0.9144, 0.45359237, 28.349523, 3.785412, 29.57353, 60, 24, 7, 1000, 1024};
  return std::any_of(numbers_.begin(), numbers_.end(), [&](double known) {
    if (near(known * 1.8 + 32, value) || near((known - 32) / 1.8, value)) return true;
    return std::any_of(std::begin(kFactors), std::end(kFactors),
                       [&](double factor) { return near(known * factor, value) || near(value * factor, known); });
  });
}

/// "A tip of 15% on 84.00 is 12.60, which makes 96.60": a stated percentage of a known amount, or the amount with or less it.
bool EvidenceIndex::is_percentage(double value) const {
  return std::any_of(percents_.begin(), percents_.end(), [&](double percent) {
    const auto share = percent / 100;
    return std::any_of(numbers_.begin(), numbers_.end(), [&](double amount) {
      return near(amount * share, value) || near(amount * (1 + share), value) || near(amount * (1 - share), value);
    });
  });
}

bool EvidenceIndex::follows(double value) {
  if (numbers_.empty()) return false;
  if (near(0, value)) return true;  // a number minus itself
  if (!sorted_) {
    by_size_ = numbers_;
    std::sort(by_size_.begin(), by_size_.end());
    sorted_ = true;
  }
  // Each result rises or falls with its second number, so if neither neighbor of the ideal second number fits, none does.
  const auto fits = [&](double second, auto result) {
    const auto above = std::lower_bound(by_size_.begin(), by_size_.end(), second);
    return (above != by_size_.end() && near(result(*above), value)) ||
           (above != by_size_.begin() && near(result(*std::prev(above)), value));
  };
  const auto made_with = [&](double a) {
    if (fits(value - a, [&](double b) { return a + b; }) || fits(a - value, [&](double b) { return a - b; })) return true;
    if (a == 0) return false;
    if (fits(value / a, [&](double b) { return a * b; })) return true;
    return fits(value * a, [&](double b) { return b / a; }) || fits(value * a / 100, [&](double b) { return b / a * 100; });
  };
  return std::any_of(numbers_.begin(), numbers_.end(), made_with) || converts(value) || is_percentage(value);
}

/// "5:30 per km" from 44 minutes and 8 km: one number divided by another, as minutes and seconds.
bool EvidenceIndex::is_share(std::string_view text) const {
  constexpr std::size_t kMostTried = 16;
  const auto colon = text.find(':');
  const auto digits = [](std::string_view part) {
    return part.size() <= 2 && !part.empty() && std::all_of(part.begin(), part.end(), is_digit);
  };
  if (colon == std::string_view::npos || !digits(text.substr(0, colon)) || !digits(text.substr(colon + 1))) return false;
  if (numbers_.size() > kMostTried) return false;
  const auto value = [](std::string_view part) { return part.size() == 1 ? part[0] - '0' : (part[0] - '0') * 10 + (part[1] - '0'); };
  const double minutes = value(text.substr(0, colon)) + value(text.substr(colon + 1)) / 60.0;
  constexpr double kHalfASecond = 0.5 / 60;
  return std::any_of(numbers_.begin(), numbers_.end(), [&](double all) {
    return std::any_of(numbers_.begin(), numbers_.end(),
                       [&](double parts) { return parts > 1 && std::abs(all / parts - minutes) <= kHalfASecond; });
  });
}

/// "18.09." is a day in German, and a figure anywhere else: true when that day was added.
bool EvidenceIndex::is_day(std::string_view text) const {
  const auto point = text.find('.');
  constexpr std::size_t kDigits = 2;
  if (point == std::string_view::npos || point == 0 || point > kDigits || text.size() - point - 1 != kDigits) return false;
  int day = 0, month = 0;
  const auto end = text.data() + text.size();
  const bool read = std::from_chars(text.data(), text.data() + point, day).ptr == text.data() + point &&
                    std::from_chars(text.data() + point + 1, end, month).ptr == end;
  return read && day >= 1 && day <= 31 && month >= 1 && month <= 12 && known_.contains(normal_date(month, day));
}

bool EvidenceIndex::holds(const Fact& fact) {
  if (holds_as_stated(fact)) return true;
  if (fact.kind == FactKind::kTime) return is_share(fact.text);
  if (is_day(fact.text)) return true;
  return fact.kind == FactKind::kNumber && follows(std::abs(fact.number));
}

bool EvidenceIndex::holds_spelled(const Fact& fact) const {
  if (known_.contains(normal_id(fact.text))) return true;
  if (fact.kind != FactKind::kId) return false;
  // An earlier "2041" grounds "INV-2041"; "order" and "8842" ground "order_8842".
  bool any = false;
  const bool all = for_each_word(fact.text, [&](std::string_view word) {
    if (std::none_of(word.begin(), word.end(), is_digit)) return true;
    any = true;
    return known_.contains(normal_id(word));
  });
  return any && all;
}

}  // namespace runwarden::plugins
