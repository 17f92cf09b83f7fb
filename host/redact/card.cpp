#include "redact/card.h"

#include <algorithm>
#include <array>

namespace runwarden::redact {
namespace {

constexpr std::size_t kFewestDigits = 13;
constexpr std::size_t kMostDigits = 19;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
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

// Nothing that makes the digits part of a longer word or number stands at `at`.
bool ends_there(std::string_view text, std::size_t at) {
  if (at >= text.size()) return true;
  const char c = text[at];
  if (is_digit(c) || is_letter(c)) return false;
  const bool decimal = c == '.' || c == ',';
  return !(decimal && at + 1 < text.size() && is_digit(text[at + 1]));
}

}  // namespace

bool is_card_number(std::string_view digits) {
  if (digits.size() < kFewestDigits || digits.size() > kMostDigits) return false;
  if (!std::all_of(digits.begin(), digits.end(), is_digit)) return false;
  return of_an_issuer(digits) && luhn(digits);
}

std::size_t separator_length(std::string_view text, std::size_t at) {
  if (at >= text.size()) return 0;
  if (text[at] == ' ' || text[at] == '-') return 1;
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("\xC2\xA0")) return 2;                                                                   // U+00A0
  if (rest.starts_with("\xE2\x80\xAF") || rest.starts_with("\xE2\x88\x92")) return 3;                           // U+202F, U+2212
  const bool dash = rest.starts_with("\xE2\x80") && rest.size() > 2 && rest[2] >= '\x90' && rest[2] <= '\x95';  // U+2010 to U+2015
  return dash ? 3 : 0;
}

std::size_t card_end(std::string_view text, std::size_t at) {
  std::array<char, kMostDigits> digits;
  std::size_t count = 0;
  std::size_t end = 0;
  for (std::size_t group = 0;; ++group) {
    std::size_t length = 0;
    while (at < text.size() && is_digit(text[at])) {
      if (count == kMostDigits) return end;
      digits[count++] = text[at++];
      ++length;
    }
    const std::size_t separator = separator_length(text, at);
    const bool more = separator != 0 && at + separator < text.size() && is_digit(text[at + separator]);
    if ((group > 0 || more) && (length < 3 || length > 7) && !(group == 0 && count >= kFewestDigits)) return end;
    if (ends_there(text, at) && is_card_number({digits.data(), count})) end = at;
    if (!more) return end;
    at += separator;
  }
}

}  // namespace runwarden::redact
