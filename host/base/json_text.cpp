#include "base/json_text.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/utf8.h"

namespace runwarden {
namespace {

constexpr char kHex[] = "0123456789abcdef";

// The letter of the short escape of a character, or 0 if it has none.
char short_escape(unsigned char c) {
  switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
  }
}

void append_escaped(std::string& out, unsigned char c) {
  if (const char letter = short_escape(c); letter != 0) {
    const char escape[] = {'\\', letter};
    out.append(escape, sizeof escape);
    return;
  }
  const char escape[] = {'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 15]};
  out.append(escape, sizeof escape);
}

// The position at or after `at` of the first byte that needs an escape or is not ASCII. Eight bytes per step: each of the four tests sets
// the top bit of matching bytes.
std::size_t plain_prefix(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kOnes = 0x0101010101010101ull;
  constexpr std::uint64_t kTops = 0x8080808080808080ull;
  const auto has_zero = [](std::uint64_t word) { return (word - kOnes) & ~word & kTops; };
  while (text.size() - at >= 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    const std::uint64_t control = (word - kOnes * 0x20) & ~word & kTops;
    if ((control | has_zero(word ^ (kOnes * '"')) | has_zero(word ^ (kOnes * '\\')) | (word & kTops)) != 0) break;
    at += 8;
  }
  while (at < text.size()) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\') break;
    ++at;
  }
  return at;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t start = 0;
  for (std::size_t i = plain_prefix(text, 0); i < text.size(); i = plain_prefix(text, i)) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      const std::size_t length = utf8_length_at(text, i);
      if (length > 0) {
        i += length;
        continue;
      }
    }
    out.append(text.substr(start, i - start));
    if (c >= 0x80) {
      out += "\xEF\xBF\xBD";
    } else {
      append_escaped(out, c);
    }
    start = ++i;
  }
  out.append(text.substr(start));
  out += '"';
}

void append_json_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value);
  out.append(text, end.ptr);
}

void JsonWriter::separate() {
  if (comma_) *out_ += ',';
  comma_ = true;
}

JsonWriter& JsonWriter::begin_object() {
  separate();
  *out_ += '{';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  *out_ += '}';
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  separate();
  *out_ += '[';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  *out_ += ']';
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_json_string(*out_, name);
  *out_ += ':';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view value) {
  separate();
  append_json_string(*out_, value);
  return *this;
}

JsonWriter& JsonWriter::integer(std::int64_t value) {
  separate();
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, value);
  out_->append(text, end.ptr);
  return *this;
}

JsonWriter& JsonWriter::number(double value) {
  separate();
  append_json_number(*out_, value);
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  separate();
  *out_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::null() {
  separate();
  *out_ += "null";
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  *out_ += json;
  return *this;
}

}  // namespace runwarden
