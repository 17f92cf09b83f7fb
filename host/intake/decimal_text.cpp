#include "intake/decimal_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

namespace runwarden::intake {
namespace {

constexpr std::int64_t kLongestText = 40;

// Of "e+3" 3, of "" 0; nothing if it does not fit.
std::optional<std::int32_t> exponent_of(std::string_view text) {
  if (text.empty()) return 0;
  text.remove_prefix(text[1] == '+' ? 2 : 1);
  std::int32_t exponent = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), exponent);
  return read.ec == std::errc() ? std::optional(exponent) : std::nullopt;
}

// The digits with a point before that index, which may be outside of them. The first digit is not 0.
std::string placed(std::string digits, std::int64_t point) {
  const auto size = static_cast<std::int64_t>(digits.size());
  if (point >= size) return digits.append(static_cast<std::size_t>(point - size), '0');
  if (point > 0) return digits.insert(static_cast<std::size_t>(point), ".");
  return "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
}

std::int64_t length_placed(std::int64_t digits, std::int64_t point) {
  if (point >= digits) return point;
  return point > 0 ? digits + 1 : 2 - point + digits;
}

}  // namespace

std::string decimal_text(std::string_view json_number) {
  const bool negative = json_number.starts_with('-');
  const std::string_view number = json_number.substr(negative ? 1 : 0);
  const std::string_view mantissa = number.substr(0, number.find_first_of("eE"));
  const std::size_t whole_digits = std::min(mantissa.find('.'), mantissa.size());
  std::string digits(mantissa);
  if (whole_digits < digits.size()) digits.erase(whole_digits, 1);
  const std::size_t zeros = digits.find_first_not_of('0');
  if (zeros == std::string::npos) return "0";
  const auto exponent = exponent_of(number.substr(mantissa.size()));
  if (!exponent) return std::string(json_number);
  digits.erase(0, zeros);
  const std::int64_t point = static_cast<std::int64_t>(whole_digits) - static_cast<std::int64_t>(zeros) + *exponent;
  const bool is_whole = point > 0 && digits.find_last_not_of('0') < static_cast<std::size_t>(point);
  if (is_whole) digits.resize(std::min(digits.size(), static_cast<std::size_t>(point)));
  if (length_placed(static_cast<std::int64_t>(digits.size()), point) > kLongestText) return std::string(json_number);
  return (negative ? "-" : "") + placed(std::move(digits), point);
}

}  // namespace runwarden::intake
