#include "config/core_types.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <clocale>
#include <cstdlib>
#include <limits>

#include "base/ascii.h"

namespace runwarden::config {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

bool only(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

std::string_view without_sign(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return text;
}

// 0o17 or 0x1F, which have no sign in the core schema.
std::optional<std::uint64_t> based_value(std::string_view text) {
  const bool octal = text.starts_with("0o");
  if (!octal && !text.starts_with("0x")) return std::nullopt;
  std::uint64_t value = 0;
  const auto end = std::from_chars(text.data() + 2, text.data() + text.size(), value, octal ? 8 : 16);
  if (text.size() == 2 || end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// [-+]? ( \.[0-9]+ | [0-9]+(\.[0-9]*)? ) ([eE][-+]?[0-9]+)?
bool is_float(std::string_view text) {
  text = without_sign(text);
  const auto exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos) {
    if (!only(without_sign(text.substr(exponent + 1)), kDigits)) return false;
    text = text.substr(0, exponent);
  }
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return only(text, kDigits);
  const std::string_view whole = text.substr(0, dot);
  const std::string_view part = text.substr(dot + 1);
  if (whole.empty()) return only(part, kDigits);
  return only(whole, kDigits) && (part.empty() || only(part, kDigits));
}

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

constexpr std::array<Unit, 9> kSizes = {{{"b", 1},
                                         {"kib", 1LL << 10},
                                         {"mib", 1LL << 20},
                                         {"gib", 1LL << 30},
                                         {"tib", 1LL << 40},
                                         {"kb", 1'000},
                                         {"mb", 1'000'000},
                                         {"gb", 1'000'000'000},
                                         {"tb", 1'000'000'000'000}}};
constexpr std::array<Unit, 5> kTimes = {{{"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};

// Takes digits off the front; nothing if there is none or the number is too large.
std::optional<std::int64_t> take_digits(std::string_view& text) {
  std::int64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || text.front() == '-') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
  return value;
}

template <std::size_t N>
std::optional<std::int64_t> scaled(std::int64_t value, std::string_view unit, const std::array<Unit, N>& units) {
  const auto found = std::find_if(units.begin(), units.end(), [&](const Unit& known) { return known.name == unit; });
  if (found == units.end() || value > std::numeric_limits<std::int64_t>::max() / found->factor) return std::nullopt;
  return value * found->factor;
}

// With a point, whatever locale a detector sets for the process.
double decimal(const std::string& text) {
  static const locale_t classic = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return ::strtod_l(text.c_str(), nullptr, classic);
}

}  // namespace

void type_plain(Node& node) {
  const std::string& text = node.text;
  node.kind = Node::Kind::text;
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) {
    node.kind = Node::Kind::null;
  } else if (is_one_of(text, {"true", "True", "TRUE", "false", "False", "FALSE"})) {
    node.kind = Node::Kind::boolean;
    node.boolean = text[0] == 't' || text[0] == 'T';
  } else if (const auto based = based_value(text)) {
    node.kind = Node::Kind::integer;
    node.number = static_cast<double>(*based);
  } else if (only(without_sign(text), kDigits)) {
    node.kind = Node::Kind::integer;
    node.number = decimal(text);
  } else if (is_float(text)) {
    node.kind = Node::Kind::number;
    node.number = decimal(text);
  } else if (is_one_of(without_sign(text), {".inf", ".Inf", ".INF"})) {
    node.kind = Node::Kind::number;
    node.number = text[0] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  } else if (is_one_of(text, {".nan", ".NaN", ".NAN"})) {
    node.kind = Node::Kind::number;
    node.number = std::numeric_limits<double>::quiet_NaN();
  }
}

std::string integer_digits(std::string_view text) {
  if (const auto based = based_value(text)) return std::to_string(*based);
  std::string_view digits = without_sign(text);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return (text.front() == '-' && digits != "0" ? "-" : "") + std::string(digits);
}

std::optional<std::int64_t> integer_value(std::string_view text) {
  const std::string digits = integer_digits(text);
  std::int64_t value = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end.ec != std::errc()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> size_bytes(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto value = take_digits(text);
  if (!value || text.empty()) return value;
  if (text.front() == ' ') text.remove_prefix(1);
  return scaled(*value, ascii::to_lower(text), kSizes);
}

std::optional<std::int64_t> duration_ms(std::string_view text) {
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  std::int64_t sum = 0;
  while (!text.empty()) {
    const auto value = take_digits(text);
    if (!value) return std::nullopt;
    const auto unit_end = std::min(text.find_first_of(kDigits), text.size());
    const auto part = scaled(*value, text.substr(0, unit_end), kTimes);
    if (!part || sum > std::numeric_limits<std::int64_t>::max() - *part) return std::nullopt;
    sum += *part;
    text.remove_prefix(unit_end);
  }
  return sum;
}

}  // namespace runwarden::config
