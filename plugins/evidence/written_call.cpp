#include "evidence/written_call.h"

#include <algorithm>
#include <iterator>

#include "common/json_scan.h"
#include "common/reading.h"
#include "common/words.h"

namespace runwarden::plugins {
namespace {

using Token = JsonScanner::Token;

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kHead = 400;  // bytes in which the names of a call's members must occur

bool in_name(char c) {
  return is_digit(c) || c == '_' || c == '.' || static_cast<unsigned char>((c | 0x20) - 'a') < 26;
}

std::size_t name_end(std::string_view text, std::size_t at) {
  const auto begin = at;
  while (at < text.size() && at - begin <= kLongestName && in_name(text[at])) ++at;
  return at;
}

/// `"name": "x"` and its arguments.
std::optional<std::string> json_call(std::string_view text) {
  const auto head = text.substr(0, kHead);
  constexpr std::string_view kName = "\"name\"";
  const auto name = head.find(kName);
  if (name == std::string_view::npos) return std::nullopt;
  if (head.find("\"arguments\"") == std::string_view::npos && head.find("\"parameters\"") == std::string_view::npos) return std::nullopt;
  const auto open = head.find('"', name + kName.size());
  if (open == std::string_view::npos) return std::nullopt;
  return std::string(head.substr(open + 1, name_end(head, open + 1) - open - 1));
}

/// `name(argument="...")`.
std::optional<std::string> function_call(std::string_view text) {
  const auto end = name_end(text, 0);
  if (end == 0 || is_digit(text[0]) || end >= text.size() || text[end] != '(') return std::nullopt;
  const auto argument = name_end(text, end + 1);
  if (argument == end + 1 || argument + 1 >= text.size() || text[argument] != '=') return std::nullopt;
  const char value = text[argument + 1];
  if (value != '"' && value != '\'' && value != '[' && value != '{' && !is_digit(value)) return std::nullopt;
  return text.find(')', argument) == std::string_view::npos ? std::nullopt : std::optional(std::string(text.substr(0, end)));
}

bool begins_call(std::string_view text) {
  constexpr std::string_view kTags[] = {"<tool_call", "<function_call", "<function=", "<|tool_call", "[TOOL_CALLS]", "<invoke name="};
  return std::any_of(std::begin(kTags), std::end(kTags), [&](auto tag) { return text.starts_with(tag); });
}

/// What the values of a message hold.
struct WrittenCalls {
  std::size_t calls = 0;
  std::string told;
};

/// Adds the calls and texts of the JSON value that begins a text. Returns its length, 0 where there is none.
std::size_t add_value(std::string_view text, const CallNames& names, WrittenCalls& out) {
  JsonScanner cursor(text);
  WrittenCalls within;
  std::string_view key;
  std::string part;
  bool named = false;
  do {
    const auto token = cursor.next();
    if (token == Token::kBad || token == Token::kEnd) return 0;
    if (token == Token::kObject) named = false;
    if (token == Token::kKey) {
      key = cursor.text();
      within.calls += named && names.wrapped_argument_members.contains(key) ? 1 : 0;
      named |= names.wrapped_name_members.contains(key);
    }
    if (token != Token::kString || cursor.text().find(' ') == std::string_view::npos || names.written_members.contains(key)) continue;
    unescape(cursor.text(), part);
    within.told.append(part).append("\n\n");
  } while (cursor.depth() > 0);
  out.calls += within.calls;
  out.told += within.told;
  return cursor.offset();
}

}  // namespace

std::string told_in_written_calls(std::string_view message, const CallNames& names) {
  constexpr std::size_t kMost = 64;
  constexpr std::size_t kFewest = 2;
  std::string buffer;
  auto told = trim(told_of(message, buffer));
  if (told.empty() || (told[0] != '{' && told[0] != '[')) return {};
  WrittenCalls found;
  for (std::size_t looked = 0; looked < kMost && !told.empty(); ++looked) {
    const auto length = add_value(told, names, found);
    const auto next = told.find_first_of("{[", std::max<std::size_t>(length, 1));
    told = next == std::string_view::npos ? std::string_view{} : told.substr(next);
  }
  return found.calls < kFewest ? std::string{} : found.told;
}

std::optional<std::string> written_call(std::string_view message) {
  const auto holds = [&](char sign) { return message.find(sign) != std::string_view::npos; };
  if (!holds('(') && !holds('{') && !holds('<') && !holds('[')) return std::nullopt;
  std::string buffer;
  const auto told = told_of(message, buffer);
  if (told.find("```") != std::string_view::npos) return std::nullopt;
  for (std::size_t at = 0; at < told.size();) {
    while (at < told.size() && blank(told[at])) ++at;
    const auto line = told.substr(at);
    if (begins_call(line)) return json_call(line).value_or(std::string());
    if (!line.empty() && line[0] == '{') {
      if (auto name = json_call(line)) return name;
    }
    if (auto name = function_call(line.substr(0, line.find('\n')))) return name;
    const auto end = told.find('\n', at);
    if (end == std::string_view::npos) break;
    at = end + 1;
  }
  return std::nullopt;
}

}  // namespace runwarden::plugins
