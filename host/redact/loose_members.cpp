#include "redact/loose_members.h"

#include <algorithm>

#include "base/ascii.h"

namespace runwarden::redact {
namespace {

constexpr std::size_t kLongestName = 128;
constexpr std::size_t kMostBlanks = 8;
constexpr std::string_view kEndsBare = " \t\r\n,;&\"')}]<>";

bool is_bare(char c) {
  return ascii::is_alphanumeric(c) || c == '_' || c == '-' || c == '.';
}
bool is_sign(char c) {
  return c == ':' || c == '=';
}

std::string_view without_dashes(std::string_view name) {
  const auto begin = name.find_first_not_of('-');  // of an option
  return begin == std::string_view::npos ? std::string_view() : name.substr(begin);
}

// Authentication schemes that precede a credential (RFC 9110, section 11.1).
bool is_scheme(std::string_view word) {
  constexpr std::string_view kSchemes[] = {"apikey", "basic", "bearer", "digest", "token"};
  const auto same = [&](std::string_view one) {
    return one.size() == word.size() && std::equal(one.begin(), one.end(), word.begin(), [](char a, char b) { return a == (b | 0x20); });
  };
  return std::any_of(std::begin(kSchemes), std::end(kSchemes), same);
}

}  // namespace

std::optional<LooseMembers::Member> LooseMembers::next() {
  for (;;) {
    while (at_ < text_.size() && text_[at_] != ':' && text_[at_] != '=' && text_[at_] != '-') ++at_;
    if (at_ == text_.size()) return std::nullopt;
    const std::size_t at = at_++;
    if (auto member = text_[at] == '-' ? option_at(at) : member_at(at)) return member;
  }
}

std::optional<LooseMembers::Member> LooseMembers::member_at(std::size_t sign) {
  const bool colon = text_[sign] == ':';
  std::size_t behind = sign + 1;
  if (colon && ((behind < text_.size() && text_[behind] == ':') || (sign > 0 && text_[sign - 1] == ':'))) return std::nullopt;  // a::b
  const bool compared = behind < text_.size() && (text_[behind] == '=' || (!colon && text_[behind] == '>'));
  if (compared) at_ = ++behind;  // ==, :=, =>
  std::size_t end = sign;
  while (end > 0 && sign - end < kMostBlanks && ascii::is_space(text_[end - 1])) --end;
  if (end == 0) return std::nullopt;
  const bool in_quotes = ascii::is_quote(text_[end - 1]);
  if (in_quotes ? !quoted_name(end - 1) : !bare_names(end)) return std::nullopt;
  const std::size_t value = skip_blanks(behind);
  if (value == text_.size()) return std::nullopt;
  const Sign kind = in_quotes ? Sign::quoted : colon && !compared ? Sign::colon : Sign::equals;
  if (kind == Sign::colon && text_.substr(behind, value - behind).find_first_of("\r\n") != std::string_view::npos) return std::nullopt;
  if (kind != Sign::quoted && ascii::is_quote(text_[value]) && closes(value)) return std::nullopt;
  return Member{kind, value, normal_.percent_encoded(sign), std::span(names_).first(name_count_), with_escape(names_[0])};
}

// --password x, and in a list of arguments: "--password", "x".
std::optional<LooseMembers::Member> LooseMembers::option_at(std::size_t dash) {
  if (dash > 0 && !ascii::is_space(text_[dash - 1]) && !ascii::is_quote(text_[dash - 1]) && text_[dash - 1] != '[') return std::nullopt;
  const std::size_t begin = dash + (dash + 1 < text_.size() && text_[dash + 1] == '-' ? 2 : 1);
  std::size_t end = begin;
  while (end < text_.size() && end - begin < kLongestName && is_bare(text_[end])) ++end;
  if (end - begin < 2 || !ascii::is_letter(text_[begin])) return std::nullopt;
  at_ = end;
  std::size_t value = end;
  if (value < text_.size() && ascii::is_quote(text_[value])) ++value;
  const std::size_t gap = value;
  while (value < text_.size() && value - gap < kMostBlanks && (ascii::is_space(text_[value]) || text_[value] == ',')) ++value;
  if (value == gap || value == text_.size() || text_[value] == '-' || is_sign(text_[value])) return std::nullopt;
  names_[0] = text_.substr(begin, end - begin);
  name_count_ = 1;
  return Member{Sign::option, value, normal_.percent_encoded(dash), std::span(names_).first(name_count_), {}};
}

std::size_t LooseMembers::skip_blanks(std::size_t at) const {
  const std::size_t limit = std::min(text_.size(), at + kMostBlanks);
  while (at < limit && ascii::is_space(text_[at])) ++at;
  return at;
}

// `end` is the mark that closes the name.
bool LooseMembers::quoted_name(std::size_t end) {
  const std::size_t from = end - std::min(end, kLongestName);
  const auto open = text_.substr(from, end - from).rfind(text_[end]);
  if (open == std::string_view::npos) return false;
  names_[0] = without_dashes(text_.substr(from + open + 1, end - from - open - 1));
  name_count_ = 1;
  return true;
}

// The name ends before `end` and has one, two or three words.
bool LooseMembers::bare_names(std::size_t end) {
  name_count_ = 0;
  std::size_t begin = end;
  while (name_count_ < names_.size()) {
    const std::size_t word_end = begin;
    while (begin > 0 && end - begin < kLongestName && is_bare(text_[begin - 1])) --begin;
    const bool whole = begin < word_end && (begin == 0 || !is_bare(text_[begin - 1]));
    const std::string_view name = whole ? without_dashes(text_.substr(begin, end - begin)) : std::string_view();
    if (name.empty()) break;
    names_[name_count_++] = name;
    if (begin == 0 || text_[begin - 1] != ' ') break;
    --begin;
  }
  return name_count_ > 0;
}

// The name with the letter of a preceding escape, which may belong to it.
std::string_view LooseMembers::with_escape(std::string_view name) const {
  const auto begin = static_cast<std::size_t>(name.data() - text_.data());
  const std::size_t width = begin == 0 ? 1 : normal_.width(begin - 1);
  if (width == 1) return {};
  const TextRange at = normal_.written({begin - 1, begin + name.size()});
  const std::string_view both = normal_.as_written().substr(at.begin, at.end - at.begin);
  return both.front() == '\\' && both.size() == width + name.size() ? both.substr(width - 1) : std::string_view();
}

// "..., password=", ...: the mark closes the text that contains the name rather than opening a value.
bool LooseMembers::closes(std::size_t quote) const {
  const std::string_view behind = text_.substr(quote + 1, 2);
  if (behind.empty() || std::string_view(",:}])").find(behind[0]) != std::string_view::npos) return true;
  return behind[0] == '.' && (behind.size() == 1 || ascii::is_space(behind[1]));
}

TextRange LooseMembers::take(const Member& member) {
  const std::size_t value = member.value;
  TextRange found{value, value};
  if (ascii::is_quote(text_[value])) {
    found = quoted(value);
  } else if (text_[value] == '{' || text_[value] == '[') {
    found.end = bracket_end(value);
  } else {
    found = bare(value, member.encoded);
    if (member.sign == Sign::colon && is_prose(found)) found.end = found.begin;
  }
  at_ = std::max(at_, found.end);
  return found;
}

// Ends at the next mark that is written like this one. A mark with more escapes is part of the value.
TextRange LooseMembers::quoted(std::size_t begin) const {
  const std::size_t width = normal_.width(begin);
  for (std::size_t i = begin + 1; i < text_.size(); ++i) {
    if (text_[i] == text_[begin] && normal_.width(i) <= width) return {begin + 1, i};
  }
  return {begin + 1, text_.size()};
}

// A word, or a scheme and its credential. If the sign before it is not percent-encoded, percent-encoded characters belong to the value.
TextRange LooseMembers::bare(std::size_t begin, bool encoded) const {
  const auto end_of = [&](std::size_t at) {
    const auto ends = [&](std::size_t i) {
      return kEndsBare.find(text_[i]) != std::string_view::npos && (encoded || !normal_.percent_encoded(i));
    };
    while (at < text_.size() && !ends(at)) ++at;
    return at;
  };
  const std::size_t end = end_of(begin);
  const bool more = is_scheme(text_.substr(begin, end - begin)) && end < text_.size() && text_[end] == ' ';
  return {begin, more ? end_of(skip_blanks(end)) : end};
}

bool LooseMembers::is_wording(std::string_view value) {
  for (std::size_t i = 0; i < value.size(); ++i) {
    const bool inner_capital = i > 0 && ascii::is_upper(value[i]) && ascii::is_letter(value[i - 1]);
    if (ascii::is_digit(value[i]) || inner_capital) return false;
  }
  return true;
}

bool LooseMembers::is_plain_word(std::string_view value) {
  while (!value.empty() && std::string_view(".!?:").find(value.back()) != std::string_view::npos) value.remove_suffix(1);
  return std::all_of(value.begin(), value.end(), ascii::is_letter) &&
         std::none_of(value.begin() + (value.empty() ? 0 : 1), value.end(), ascii::is_upper);
}

// "Password: please enter it": a plain word that more words follow.
bool LooseMembers::is_prose(TextRange value) const {
  if (!is_plain_word(text_.substr(value.begin, value.end - value.begin))) return false;
  if (value.end == text_.size() || text_[value.end] != ' ') return value.begin == value.end;
  const std::size_t more = skip_blanks(value.end);
  return more < text_.size() && ascii::is_alphanumeric(text_[more]);
}

// The end of the container that begins there. Counts brackets in strings too. A truncated container ends with the text.
std::size_t LooseMembers::bracket_end(std::size_t begin) const {
  std::size_t depth = 0;
  for (std::size_t i = begin; i < text_.size(); ++i) {
    if (text_[i] == '{' || text_[i] == '[') ++depth;
    if ((text_[i] == '}' || text_[i] == ']') && --depth == 0) return i + 1;
  }
  return text_.size();
}

}  // namespace runwarden::redact
