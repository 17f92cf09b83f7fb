#include "common/inner_output.h"

#include <algorithm>
#include <iterator>

#include "common/json_scan.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

using Token = JsonScanner::Token;

constexpr std::size_t kLongest = 1000;
constexpr std::size_t kLongestHead = 80;

/// Members that say nothing of their own beside an answer: MCP's `type`, and `isError` when it is false.
bool may_frame(std::string_view key) {
  return equal_ignoring_case(key, "type") || equal_ignoring_case(key, "iserror");
}

bool is_frame(std::string_view key, Token value) {
  return may_frame(key) && (value == Token::kFalse || equal_ignoring_case(key, "type"));
}

/// The value that was just read; for an object or array, its text. Empty for other values.
std::string_view value_of(JsonScanner& cursor, Token value, std::string_view json, std::string& buffer) {
  if (value == Token::kString) {
    if (!cursor.escaped()) return cursor.text();
    unescape(cursor.text(), buffer);
    return buffer;
  }
  if (value != Token::kObject && value != Token::kArray) return {};
  const auto begin = cursor.offset() - 1;
  return cursor.leave() ? json.substr(begin, cursor.offset() - begin) : std::string_view{};
}

/// The only member of an object that holds an answer.
std::string_view only_member(std::string_view json, const NameSet& names, std::string& buffer) {
  JsonScanner cursor(json);
  if (cursor.next() != Token::kObject) return {};
  std::string_view inner;
  for (auto token = cursor.next(); token == Token::kKey; token = cursor.next()) {
    const auto key = cursor.text();
    const bool holds_answer = names.contains(key);
    if (!holds_answer && !may_frame(key)) return {};
    const auto value = cursor.next();
    if (is_frame(key, value)) continue;
    if (!inner.empty() || !holds_answer) return {};
    inner = value_of(cursor, value, json, buffer);
    if (inner.empty()) return {};
  }
  return inner;
}

/// True for `{"error": ...}` without another member.
bool is_only_an_error(std::string_view json) {
  JsonScanner cursor(json);
  if (cursor.next() != Token::kObject || cursor.next() != Token::kKey || !equal_ignoring_case(cursor.text(), "error")) return false;
  const auto value = cursor.next();
  if ((value == Token::kObject || value == Token::kArray) && !cursor.leave()) return false;
  return cursor.next() == Token::kObjectEnd;
}

/// The only item of an array: a text, a frame around one, or an error. Any other object is a record.
std::string_view only_item(std::string_view json, const NameSet& names, std::string& buffer) {
  JsonScanner cursor(json);
  if (cursor.next() != Token::kArray) return {};
  const auto value = cursor.next();
  const auto item = value_of(cursor, value, json, buffer);
  if (item.empty() || cursor.next() != Token::kArrayEnd) return {};
  if (value == Token::kString) return item;
  return is_only_an_error(item) ? item : only_member(item, names, buffer);
}

/// "[ERROR: service down]", but not a list.
std::string_view in_brackets(std::string_view text) {
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return {};
  const auto inner = text.substr(1, text.size() - 2);
  const bool is_text = is_letter_or_digit(inner[0]) && !is_digit(inner[0]) && inner.find_first_of("[]{}") == std::string_view::npos;
  return is_text ? inner : std::string_view{};
}

/// What follows a label such as "Result:" that ends the first line, or the first words of a text.
std::string_view behind_label(std::string_view text, const NameSet& names) {
  const auto colon = text.substr(0, kLongestHead).find(':');
  if (colon == std::string_view::npos || colon + 1 >= text.size() || !blank(text[colon + 1])) return {};
  const auto head = text.substr(0, colon);
  const auto word = head.substr(head.find_last_of(" \n") + 1);
  return names.contains(word) ? trim(text.substr(colon + 1)) : std::string_view{};
}

/// The body behind a line with the status of HTTP: "HTTP 200 {...}", "Status Code: 201. Response: {...}".
std::string_view behind_status(std::string_view text) {
  constexpr std::string_view kLines[] = {"HTTP", "Status", "status"};
  if (std::none_of(std::begin(kLines), std::end(kLines), [&](auto line) { return text.starts_with(line); })) return {};
  const auto open = text.substr(0, kLongestHead).find_first_of("{[");
  if (open == std::string_view::npos) return {};
  const auto head = text.substr(0, open);
  return std::any_of(head.begin(), head.end(), is_digit) ? text.substr(open) : std::string_view{};
}

/// The object that an answer is, or that follows a label.
std::string_view object_in(std::string_view output) {
  const auto open = output.substr(0, kLongestHead).find('{');
  if (open == std::string_view::npos) return {};
  const auto head = trim(output.substr(0, open));
  return head.empty() || head.ends_with(':') ? output.substr(open) : std::string_view{};
}

}  // namespace

std::string_view inner_output(std::string_view output, const NameSet& names, std::string& buffer) {
  output = trim(output);
  if (output.empty() || output.size() > kLongest) return {};
  if (output[0] == '{') return only_member(output, names, buffer);
  if (output[0] == '[' && output.size() > 1) {
    const auto inner = in_brackets(output);
    return inner.empty() ? only_item(output, names, buffer) : inner;
  }
  const auto body = behind_status(output);
  return body.empty() ? behind_label(output, names) : body;
}

std::string_view answer_body(std::string_view output) {
  const auto body = behind_status(trim(output));
  return body.empty() ? output : body;
}

std::string_view only_news(std::string_view input, std::string_view output, std::string& buffer) {
  constexpr std::size_t kMostMembers = 8;
  constexpr std::size_t kFewestRepeated = 3;  // bytes; a shorter text occurs in any arguments
  if (output.size() > kLongest) return {};
  JsonScanner cursor(object_in(output));
  if (cursor.next() != Token::kObject) return {};
  bool repeats = false;
  std::string_view news;
  std::size_t members = 0;
  for (auto token = cursor.next(); token == Token::kKey; token = cursor.next()) {
    if (++members > kMostMembers || cursor.next() != Token::kString) return {};
    const auto text = cursor.text();
    if (text.size() >= kFewestRepeated && input.find(text) != std::string_view::npos) {
      repeats = true;
      continue;
    }
    if (!news.empty() || text.empty()) return {};
    if (cursor.escaped()) unescape(text, buffer);
    news = cursor.escaped() ? buffer : text;
  }
  return repeats ? news : std::string_view{};
}

}  // namespace runwarden::plugins
