// Walks over JSON text that was validated and returns views of values exactly as written. On other text it stops early but never reads out
// of bounds. Linear, without recursion. One thread at a time.
//
//   JsonCursor cursor(R"({"a": 1, "b": [2]})");
//   if (cursor.enter('{')) {
//     while (cursor.more()) { ... cursor.name() ... cursor.value() ... }
//   }
#pragma once

#include <cstddef>
#include <string_view>

namespace runwarden {

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  // The first character of what comes next; NUL at the end.
  char peek() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  // Moves into the container that comes next; false, and nothing is passed, if it does not begin with that bracket.
  bool enter(char bracket) {
    if (peek() != bracket) return false;
    ++at_;
    return true;
  }

  // Whether the container has another member or element, which comes next.
  bool more() {
    if (peek() == ',') ++at_;
    const char c = peek();
    return c != '\0' && c != '}' && c != ']';
  }

  // The name of the member that comes next, between its quotes; its value comes next.
  std::string_view name() {
    peek();
    const std::string_view quoted = string();
    if (peek() == ':') ++at_;
    return quoted.size() < 2 ? std::string_view() : quoted.substr(1, quoted.size() - 2);
  }

  // The value that comes next.
  std::string_view value() {
    const char first = peek();
    if (first == '"') return string();
    const std::size_t begin = at_;
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        string();
        continue;
      }
      const bool closes = c == '}' || c == ']';
      if (depth == 0 && (closes || c == ',' || is_space(c))) break;
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if (closes && --depth == 0) break;
    }
    return text_.substr(begin, at_ - begin);
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  // The string that begins here, with its quotes.
  std::string_view string() {
    const std::size_t begin = at_;
    std::size_t end = text_.find('"', begin + 1);
    while (end != std::string_view::npos && is_escaped(begin, end)) end = text_.find('"', end + 1);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    return text_.substr(begin, at_ - begin);
  }
  // Whether an odd number of backslashes precedes the quote.
  bool is_escaped(std::size_t begin, std::size_t quote) const {
    std::size_t before = quote;
    while (before > begin + 1 && text_[before - 1] == '\\') --before;
    return (quote - before) % 2 == 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace runwarden
