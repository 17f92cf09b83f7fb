#include "redact/card.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/ascii.h"

namespace runwarden::redact {
namespace {

constexpr std::size_t kFewestDigits = 13;
constexpr std::size_t kMostDigits = 19;

bool is_name_letter(char c) {
  return ascii::is_letter(c) || c == '_';
}

struct Issuer {
  int low, high;  // of the first four digits
  std::size_t fewest, most;
};
constexpr Issuer kIssuers[] = {
    {4000, 4999, 13, 19},                                                                    // Visa
    {5100, 5599, 16, 16}, {2221, 2720, 16, 16}, {2200, 2204, 16, 19},                        // Mastercard, Mir
    {3400, 3499, 15, 15}, {3700, 3799, 15, 15},                                              // American Express
    {3000, 3059, 14, 19}, {3095, 3095, 14, 19}, {3600, 3699, 14, 19}, {3800, 3999, 14, 19},  // Diners Club
    {3528, 3589, 16, 19},                                                                    // JCB
    {6000, 6999, 13, 19},                        // Discover, UnionPay, RuPay, Maestro and others of the banking range
    {5000, 5099, 13, 19}, {5600, 5899, 13, 19},  // Maestro
    {8100, 8171, 16, 19},                        // UnionPay
};

bool of_an_issuer(std::string_view digits) {
  const int first = (digits[0] - '0') * 1000 + (digits[1] - '0') * 100 + (digits[2] - '0') * 10 + (digits[3] - '0');
  return std::any_of(std::begin(kIssuers), std::end(kIssuers), [&](const Issuer& one) {
    return first >= one.low && first <= one.high && digits.size() >= one.fewest && digits.size() <= one.most;
  });
}

bool luhn(std::string_view digits) {
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    int digit = digits[digits.size() - 1 - i] - '0';
    if (i % 2 == 1) digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  return sum % 10 == 0;
}

bool is_card(std::string_view digits) {
  return digits.size() >= kFewestDigits && digits.size() <= kMostDigits && of_an_issuer(digits) && luhn(digits);
}

bool digit_at(std::string_view text, std::size_t at) {
  return at < text.size() && ascii::is_digit(text[at]);
}

std::size_t digits_end(std::string_view text, std::size_t at) {
  while (digit_at(text, at)) ++at;
  return at;
}

// True if the character at `at` does not continue a word or number.
bool ends_there(std::string_view text, std::size_t at) {
  if (at >= text.size()) return true;
  if (ascii::is_digit(text[at]) || is_name_letter(text[at])) return false;
  return !((text[at] == '.' || text[at] == ',') && digit_at(text, at + 1));
}

// An integer written with a decimal point or an exponent. With an exponent, the mantissa must be as long as a card number, which excludes
// round figures.
struct Integer {
  std::array<char, kMostDigits> digits;
  std::size_t count = 0;
  std::size_t end = 0;  // 0: not such a number

  std::string_view text() const { return {digits.data(), count}; }
};
Integer integer_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kFewestOfMantissa = 12;
  Integer number;
  std::size_t point = 0;
  std::size_t significant = 0;
  bool seen_point = false;
  std::size_t i = at;
  for (; i < text.size() && i - at <= 2 * kMostDigits; ++i) {
    if (text[i] == '.' && !seen_point && digit_at(text, i + 1)) {
      seen_point = true;
      continue;
    }
    if (!ascii::is_digit(text[i])) break;
    if (!seen_point) ++point;
    if (number.count < kMostDigits)
      number.digits[number.count++] = text[i];
    else if (text[i] != '0')
      return {};
    if (text[i] != '0') significant = number.count;
  }
  const bool has_exponent = i < text.size() && (text[i] == 'e' || text[i] == 'E');
  if (has_exponent) {
    const std::size_t sign = i + 1 < text.size() && text[i + 1] == '+' ? 1 : 0;
    const std::size_t begin = i + 1 + sign;
    const std::size_t end = digits_end(text, begin);
    if (end == begin || end - begin > 2 || number.count < kFewestOfMantissa) return {};
    for (std::size_t k = begin, power = 0; k < end; ++k) {
      power = power * 10 + static_cast<std::size_t>(text[k] - '0');
      if (k + 1 == end) point += power;
    }
    i = end;
  }
  if (significant > point || point > kMostDigits) return {};
  while (number.count < point) number.digits[number.count++] = '0';
  number.count = point;
  number.end = i;
  return number;
}

// The separator between two groups of digits.
struct Joint {
  char sign = 0;         // 0: none; '\n' for any line end
  std::size_t next = 0;  // where the next group begins

  bool loose() const { return sign == ' ' || sign == '-'; }
};

Joint joint_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kMostIndent = 16;
  const auto blanks_end = [&](std::size_t i) {
    const std::size_t limit = std::min(text.size(), i + kMostIndent);
    while (i < limit && (text[i] == ' ' || text[i] == '\t')) ++i;
    return i;
  };
  if (at >= text.size()) return {};
  std::size_t next = blanks_end(at);
  if (next < text.size() && (text[next] == '\n' || text[next] == '\r')) {
    // "\n\n": \r\n as escapes of JSON
    next += text.substr(next, 2) == "\r\n" || text.substr(next, 2) == "\n\n" ? 2 : 1;
    next = blanks_end(next);
    return digit_at(text, next) ? Joint{'\n', next} : Joint{};
  }
  const bool one = std::string_view(" -./_+").find(text[at]) != std::string_view::npos && digit_at(text, at + 1);
  return one ? Joint{text[at], at + 1} : Joint{};
}

constexpr std::size_t kMostGroups = 6;
constexpr char kMixed = '*';

bool is_printed_on_cards(const std::array<std::size_t, kMostGroups>& groups, std::size_t count) {
  constexpr std::array<std::size_t, kMostGroups> kPrinted[] = {{4, 4, 4, 4}, {4, 6, 5}, {4, 6, 4}, {4, 4, 4, 4, 3}};
  const bool short_enough = count < kMostGroups;
  return short_enough && std::any_of(std::begin(kPrinted), std::end(kPrinted), [&](const auto& one) { return one == groups; });
}

// True if a group of digits with the same separator precedes `at`: the number is then part of a list.
bool is_in_a_list(std::string_view text, std::size_t at, char joint) {
  std::size_t before = at;
  if (joint == '\n') {
    while (before > 0 && at - before < 4 && std::string_view(" \t\r\n").find(text[before - 1]) != std::string_view::npos) --before;
    return before < at && before > 0 && ascii::is_digit(text[before - 1]);
  }
  return before > 1 && text[before - 1] == joint && ascii::is_digit(text[before - 2]);
}

std::size_t grouped_end(std::string_view text, std::size_t at) {
  std::array<char, kMostDigits> digits;
  std::array<std::size_t, kMostGroups> groups{};
  std::size_t count = 0;
  std::size_t end = 0;
  const std::size_t begin = at;
  char sign = 0;  // the separator of all groups so far, or kMixed
  bool printed = false;
  for (std::size_t group = 0; group < kMostGroups; ++group) {
    const std::size_t from = at;
    for (; digit_at(text, at); ++at) {
      if (count == kMostDigits) return end;
      digits[count++] = text[at];
    }
    groups[group] = at - from;
    const Joint joint = joint_at(text, at);
    const bool more = joint.sign != 0;
    if ((group > 0 || more) && (groups[group] < 3 || groups[group] > 7) && !(group == 0 && count >= kFewestDigits)) return end;
    const bool fits = !printed || is_printed_on_cards(groups, group + 1);
    const bool listed = printed && sign != kMixed && (joint.sign == sign || is_in_a_list(text, begin, sign));
    if (fits && !listed && ends_there(text, at) && is_card({digits.data(), count})) end = at;
    if (!more) return end;
    sign = sign == 0 || sign == joint.sign ? joint.sign : kMixed;
    printed = printed || !joint.loose();
    at = joint.next;
  }
  return end;
}

}  // namespace

bool is_card_number(std::string_view number) {
  if (number.size() < kFewestDigits) return false;
  const Integer integer = integer_at(number, 0);
  return integer.end == number.size() && is_card(integer.text());
}

bool is_separator(std::string_view text, std::size_t at) {
  return at < text.size() && (text[at] == ' ' || text[at] == '-');
}

std::size_t card_end(std::string_view text, std::size_t at) {
  const std::size_t end = digits_end(text, at);
  const char next = end < text.size() ? text[end] : '\0';
  const bool written_out = (next == '.' && digit_at(text, end + 1)) || next == 'e' || next == 'E';
  if (written_out) {
    const Integer number = integer_at(text, at);
    if (number.end > 0 && ends_there(text, number.end) && is_card(number.text())) return number.end;
  }
  return grouped_end(text, at);
}

}  // namespace runwarden::redact
