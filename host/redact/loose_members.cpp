#include "redact/loose_members.h"

#include <algorithm>

namespace runwarden::redact {
namespace {

constexpr std::size_t kLongestName = 128;
constexpr std::size_t kMostBlanks = 8;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_quote(char c) {
  return c == '"' || c == '\'';
}
bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

}  // namespace

std::optional<LooseMembers::Member> LooseMembers::next() {
  for (;;) {
    std::size_t sign = at_;
    while (sign < text_.size() && text_[sign] != ':' && text_[sign] != '=') ++sign;
    if (sign == text_.size()) return std::nullopt;
    at_ = sign + 1;
    const auto name = name_before(sign);
    if (!name) continue;
    std::size_t value = sign + 1;
    while (value < text_.size() && value - sign <= kMostBlanks && is_blank(text_[value])) ++value;
    if (value < text_.size()) return Member{*name, value};
  }
}

std::optional<std::string_view> LooseMembers::name_before(std::size_t sign) const {
  std::size_t end = sign;
  while (end > 0 && sign - end < kMostBlanks && is_blank(text_[end - 1])) --end;
  if (end == 0) return std::nullopt;
  if (!is_quote(text_[end - 1])) {
    std::size_t begin = end;
    while (begin > 0 && end - begin < kLongestName && is_bare(text_[begin - 1])) --begin;
    while (begin < end && text_[begin] == '-') ++begin;  // of an option
    const bool whole = begin < end && (begin == 0 || text_[begin - 1] == '-' || !is_bare(text_[begin - 1]));
    return whole && text_[sign] == '=' ? std::optional(text_.substr(begin, end - begin)) : std::nullopt;
  }
  const char quote = text_[--end];
  while (end > 0 && text_[end - 1] == '\\') --end;
  const std::size_t from = end - std::min(end, kLongestName);
  const auto open = text_.substr(from, end - from).rfind(quote);
  if (open == std::string_view::npos) return std::nullopt;
  return text_.substr(from + open + 1, end - from - open - 1);
}

Stretch LooseMembers::take(std::size_t value) {
  constexpr std::string_view kEndsBare = " \t\r\n,;&\"')}]<>";
  std::size_t quote = value;
  while (quote < text_.size() && text_[quote] == '\\') ++quote;
  Stretch found{value, value};
  if (quote < text_.size() && is_quote(text_[quote])) {
    found = quoted(quote, quote - value);
  } else if (text_[value] == '{' || text_[value] == '[') {
    found.end = bracket_end(value);
  } else {
    found.end = std::min(text_.find_first_of(kEndsBare, value), text_.size());
  }
  at_ = std::max(at_, found.end);
  return found;
}

// Up to the next quote with as many backslashes before it; one with more stands inside the value.
Stretch LooseMembers::quoted(std::size_t begin, std::size_t backslashes) const {
  const char quote = text_[begin];
  std::size_t before = 0;
  for (std::size_t i = begin + 1; i < text_.size(); ++i) {
    if (text_[i] == quote && before == backslashes) return {begin + 1, i - before};
    before = text_[i] == '\\' ? before + 1 : 0;
  }
  return {begin + 1, text_.size()};
}

// Of the container that begins there, brackets in strings included: what is cut off ends with the text.
std::size_t LooseMembers::bracket_end(std::size_t begin) const {
  std::size_t depth = 0;
  for (std::size_t i = begin; i < text_.size(); ++i) {
    if (text_[i] == '{' || text_[i] == '[') ++depth;
    if ((text_[i] == '}' || text_[i] == ']') && --depth == 0) return i + 1;
  }
  return text_.size();
}

}  // namespace runwarden::redact
