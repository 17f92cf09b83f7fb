#include "api/window.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>

#include "base/time_text.h"

namespace runwarden::api {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kDayMs = 24 * kHourMs;
constexpr std::size_t kDateAndSeparatorBytes = 11;  // of RFC 3339: 2026-11-20T
constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> kWindows = {
    {{"1h", kHourMs}, {"24h", kDayMs}, {"7d", 7 * kDayMs}, {"30d", 30 * kDayMs}, {"90d", 90 * kDayMs}}};

std::optional<std::int64_t> window_ms(std::string_view name) {
  for (const auto& [known, ms] : kWindows) {
    if (known == name) return ms;
  }
  return std::nullopt;
}

}  // namespace

const std::string* find_member(const Query& query, std::string_view name) {
  const auto found = std::find_if(query.begin(), query.end(), [&](const auto& one) { return one.first == name; });
  return found == query.end() ? nullptr : &found->second;
}

Error bad_member(std::string_view name, std::string_view value, std::string_view wanted) {
  return {Code::bad_request,
          "the query's " + std::string(name) + " must be " + std::string(wanted) + ", got \"" + std::string(value.substr(0, 80)) + "\"",
          {},
          {}};
}

Error empty_member(std::string_view name) {
  return {Code::bad_request, "the query's " + std::string(name) + " is empty; give it a value, or leave it out", {}, {}};
}

Status check_members(const Query& query, std::string_view what, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : query) {
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      if (value.empty() && name != "q") return empty_member(name);
      continue;
    }
    std::string names;
    for (const std::string_view one : known) names.append(names.empty() ? "" : ", ").append(one);
    return Error{Code::bad_request,
                 "the query of " + std::string(what) + " has no member \"" + name.substr(0, 80) + "\"; its members are " +
                     (names.empty() ? "none" : names),
                 {},
                 {}};
  }
  return Nothing{};
}

Result<std::size_t> read_count(const Query& query, std::string_view name, std::size_t most, std::size_t otherwise) {
  const std::string* value = find_member(query, name);
  if (value == nullptr) return otherwise;
  std::size_t count = 0;
  const auto end = std::from_chars(value->data(), value->data() + value->size(), count);
  if (end.ec == std::errc() && end.ptr == value->data() + value->size() && count >= 1 && count <= most) return count;
  return bad_member(name, *value, "an integer from 1 to " + std::to_string(most));
}

Result<std::int64_t> read_time(const Query& query, std::string_view name, std::int64_t otherwise) {
  const std::string* value = find_member(query, name);
  if (value == nullptr) return otherwise;
  std::string text = *value;
  // The unescaped plus of an offset. A space may also separate date and time.
  const auto offset = text.begin() + static_cast<std::ptrdiff_t>(std::min(text.size(), kDateAndSeparatorBytes));
  std::replace(offset, text.end(), ' ', '+');
  if (const auto time = parse_time(text)) return *time;
  return bad_member(name, *value, "a time such as 2026-11-20T15:00:00Z (RFC 3339; write + as %2B)");
}

Result<store::Span> read_window(const Query& query, std::int64_t now_ms, std::string_view otherwise) {
  const std::string* window = find_member(query, "window");
  const bool bounded = find_member(query, "from") != nullptr || find_member(query, "until") != nullptr;
  if (window != nullptr && bounded) {
    return Error{Code::bad_request, "the query has both \"window\" and \"from\" or \"until\"; send one or the other", {}, {}};
  }
  const std::string_view name = window != nullptr ? std::string_view(*window) : otherwise;
  const auto length = window_ms(name);
  if (!length) return bad_member("window", name, "1h, 24h, 7d, 30d or 90d");
  if (!bounded) return store::Span{now_ms - *length, now_ms + 1};
  auto until = read_time(query, "until", now_ms + 1);
  if (!until.ok()) return std::move(until.error());
  auto from = read_time(query, "from", *until - *length);
  if (!from.ok()) return std::move(from.error());
  if (*from >= *until) {
    return Error{
        Code::bad_request, "the query's from (" + format_time(*from) + ") is not before its until (" + format_time(*until) + ")", {}, {}};
  }
  if (*until - *from > kLongestWindowMs) {
    return Error{Code::bad_request, "the query's from and until are more than 400 days apart; request a shorter range", {}, {}};
  }
  return store::Span{*from, *until};
}

}  // namespace runwarden::api
