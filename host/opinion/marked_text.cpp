#include "opinion/marked_text.h"

#include <algorithm>

#include "opinion/tokens.h"

namespace runwarden::opinion {
namespace {

constexpr std::size_t kFewestSixths = 240;  // minimum to keep of a text that is cut

bool is_inside_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

std::size_t line_break_sixths() {
  static const std::size_t one = sixths("\n") + sixths(kLineMark);
  return one;
}

// The size of the character or line break at `at`; sets `length` to its bytes.
std::size_t sixths_at(std::string_view text, std::size_t at, std::size_t& length) {
  length = line_break_at(text, at);
  if (length > 0) return line_break_sixths();
  length = 1;
  while (at + length < text.size() && is_inside_character(text[at + length])) ++length;
  return sixths(text.substr(at, length));
}

// The length of the longest beginning of at most that size.
std::size_t beginning_of(std::string_view text, std::size_t most_sixths) {
  std::size_t at = 0;
  std::size_t length = 0;
  for (std::size_t sum = 0; at < text.size(); at += length) {
    sum += sixths_at(text, at, length);
    if (sum > most_sixths) break;
  }
  return at;
}

// The start of the longest end of at most that size.
std::size_t end_of(std::string_view text, std::size_t from, std::size_t most_sixths) {
  std::size_t begin = text.size();
  std::size_t sum = 0;
  while (begin > from) {
    std::size_t next = begin - 1;
    while (next > from && is_inside_character(text[next])) --next;
    std::size_t length = 0;
    sum += sixths_at(text, next, length);
    if (sum > most_sixths) break;
    begin = next;
  }
  return begin;
}

void append_lines(std::string& out, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = line_break_at(text, at);
    if (length > 0) {
      out.append("\n").append(kLineMark);
      at += length;
    } else {
      out += text[at++];
    }
  }
}

}  // namespace

std::size_t line_break_at(std::string_view text, std::size_t at) {
  const auto is = [&](std::size_t i, unsigned byte) { return at + i < text.size() && static_cast<unsigned char>(text[at + i]) == byte; };
  switch (static_cast<unsigned char>(text[at])) {
    case '\r': return is(1, '\n') ? 2 : 1;
    case '\n':
    case '\v':
    case '\f': return 1;
    case 0xC2: return is(1, 0x85) ? 2 : 0;
    case 0xE2: return is(1, 0x80) && (is(2, 0xA8) || is(2, 0xA9)) ? 3 : 0;
    default: return 0;
  }
}

std::size_t marked_sixths(std::string_view text) {
  if (text.empty()) return sixths(kEmptyText);
  std::size_t sum = 0;
  std::size_t length = 0;
  for (std::size_t at = 0; at < text.size(); at += length) sum += sixths_at(text, at, length);
  return sum;
}

bool append_marked(std::string& out, std::string_view text, std::size_t most_sixths) {
  if (text.empty()) {
    out += kEmptyText;
    return false;
  }
  if (beginning_of(text, most_sixths) == text.size()) {
    append_lines(out, text);
    return false;
  }
  const std::size_t room = most_sixths > kCutMarkSixths + kFewestSixths ? most_sixths - kCutMarkSixths : 0;
  const std::size_t begin = room == 0 ? 0 : beginning_of(text, room * 3 / 5);
  const std::size_t end = room == 0 ? text.size() : end_of(text, begin, room - room * 3 / 5);
  const std::string_view gone = text.substr(begin, end - begin);
  const auto characters = std::count_if(gone.begin(), gone.end(), [](char c) { return !is_inside_character(c); });
  append_lines(out, text.substr(0, begin));
  out.append(begin > 0 ? " " : "")
      .append(kCutBegin)
      .append(std::to_string(characters))
      .append(kCutEnd)
      .append(end < text.size() ? " " : "");
  append_lines(out, text.substr(end));
  return true;
}

}  // namespace runwarden::opinion
