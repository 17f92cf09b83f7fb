#include "common/json_scan.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "common/simd16.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

using Token = JsonScanner::Token;

void append_utf8(std::uint32_t cp, std::string& out) {
  if (cp < 0x80) {
    out += static_cast<char>(cp);
  } else if (cp < 0x800) {
    out += static_cast<char>(0xC0 | (cp >> 6));
    out += static_cast<char>(0x80 | (cp & 0x3F));
  } else if (cp < 0x10000) {
    out += static_cast<char>(0xE0 | (cp >> 12));
    out += static_cast<char>(0x80 | ((cp >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (cp & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (cp >> 18));
    out += static_cast<char>(0x80 | ((cp >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((cp >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (cp & 0x3F));
  }
}

std::uint32_t hex4(std::string_view raw, std::size_t at) {
  std::uint32_t value = 0;
  if (at + 4 > raw.size()) return 0xFFFD;
  const auto [end, fault] = std::from_chars(raw.data() + at, raw.data() + at + 4, value, 16);
  return fault == std::errc{} && end == raw.data() + at + 4 ? value : 0xFFFD;
}

std::uint64_t hash_string(const JsonScanner& cursor, std::string& scratch) {
  if (!cursor.escaped()) return hash_text(cursor.text());
  unescape(cursor.text(), scratch);
  return hash_text(scratch);
}

/// The same for texts that differ only in white space; of a text with several lines, where white space may have a meaning, the plain hash.
std::uint64_t hash_spaced(const JsonScanner& cursor, std::string& scratch) {
  unescape(cursor.text(), scratch);
  if (scratch.find('\n') != std::string::npos) return hash_text(scratch);
  const auto both_blank = [](char a, char b) { return blank(a) && blank(b); };
  scratch.erase(std::unique(scratch.begin(), scratch.end(), both_blank), scratch.end());
  return hash_text(trim(scratch));
}

std::uint64_t hash_number(std::string_view digits) {
  if (digits.find_first_of(".eE") == std::string_view::npos && digits != "-0") return hash_bytes(digits);
  double value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  char text[40];
  const auto whole = value >= -9e15 && value <= 9e15 && value == static_cast<double>(static_cast<std::int64_t>(value));
  const auto end = whole ? std::to_chars(text, text + sizeof text, static_cast<std::int64_t>(value)).ptr
                         : std::to_chars(text, text + sizeof text, value).ptr;
  return hash_bytes({text, static_cast<std::size_t>(end - text)});
}

struct Open {
  std::uint64_t hash;
  std::uint64_t key;
  bool object;
  bool ignored = false;  // the open member is ignored
  bool spaced = false;   // white space in its text is ignored
  bool filled = false;   // it holds something
};

/// Combines a value into its container's hash: by sum in an object, in order in an array.
void take(Open& open, std::uint64_t value) {
  if (open.ignored) return;
  open.filled = true;
  if (open.object) {
    open.hash += mix(open.key, value);
  } else {
    open.hash = mix(open.hash, value);
  }
}

std::uint64_t scalar_hash(Token token, const JsonScanner& cursor, bool spaced, std::string& scratch) {
  switch (token) {
    case Token::kString: return mix(1, spaced ? hash_spaced(cursor, scratch) : hash_string(cursor, scratch));
    case Token::kNumber: return mix(2, hash_number(cursor.text()));
    case Token::kTrue: return 0x51;
    case Token::kFalse: return 0x52;
    default: return 0x53;
  }
}

bool hash_json(std::string_view text, const Tolerance& tolerance, std::uint64_t& hash) {
  JsonScanner cursor(text);
  std::string scratch;
  Open stack[JsonScanner::kMaxDepth + 1];
  std::size_t depth = 0;
  stack[0] = {7, 0, false};
  const auto unset = [&](Token token) {
    return tolerance.unset && stack[depth].object && (token == Token::kNull || (token == Token::kString && trim(cursor.text()).empty()));
  };
  for (;;) {
    const auto token = cursor.next();
    switch (token) {
      case Token::kBad: return false;
      case Token::kEnd: hash = stack[0].hash; return true;
      case Token::kObject: stack[++depth] = {11, 0, true}; break;
      case Token::kArray: stack[++depth] = {13, 0, false}; break;
      case Token::kObjectEnd:
      case Token::kArrayEnd: {
        const auto inner = stack[depth--];
        if (!tolerance.unset || inner.filled || !stack[depth].object) take(stack[depth], inner.hash);
        break;
      }
      case Token::kKey:
        stack[depth].key = hash_string(cursor, scratch);
        stack[depth].ignored = (depth == 1 || !tolerance.outermost_only) && among(cursor.text(), tolerance.ignored);
        stack[depth].spaced = tolerance.unset || among(cursor.text(), tolerance.spaced);
        break;
      default:
        if (!unset(token)) take(stack[depth], scalar_hash(token, cursor, stack[depth].spaced, scratch));
        break;
    }
  }
}

}  // namespace

void JsonScanner::skip_blank() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) ++at_;
}

JsonScanner::Token JsonScanner::open(bool object) {
  if (depth_ == kMaxDepth) return Token::kBad;
  object_[depth_++] = object;
  ++at_;
  expect_key_ = object;
  return object ? Token::kObject : Token::kArray;
}

JsonScanner::Token JsonScanner::close(bool object) {
  if (depth_ == 0 || object_[depth_ - 1] != object) return Token::kBad;
  --depth_;
  ++at_;
  done_ = depth_ == 0;
  expect_key_ = false;
  return object ? Token::kObjectEnd : Token::kArrayEnd;
}

JsonScanner::Token JsonScanner::string() {
  const char mark = text_[at_];
  const auto begin = ++at_;
  escaped_ = false;
  for (;;) {
    const auto stop = find_in_blocks(text_, at_, [&](const Simd16& block) { return block.equal(mark) | block.equal('\\'); });
    if (stop + 1 >= text_.size() && (stop == text_.size() || text_[stop] != mark)) break;
    if (text_[stop] == mark) {
      at_ = stop + 1;
      value_ = text_.substr(begin, stop - begin);
      return Token::kString;
    }
    escaped_ = true;
    at_ = stop + 2;
  }
  at_ = begin;
  return Token::kBad;
}

JsonScanner::Token JsonScanner::word(std::string_view expected, Token token) {
  if (text_.substr(at_, expected.size()) != expected) return Token::kBad;
  at_ += expected.size();
  return token;
}

JsonScanner::Token JsonScanner::number() {
  const auto begin = at_;
  const auto part = [](char c) { return is_digit(c) || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'; };
  while (at_ < text_.size() && part(text_[at_])) ++at_;
  value_ = text_.substr(begin, at_ - begin);
  return at_ > begin && is_digit(value_.back()) ? Token::kNumber : Token::kBad;
}

JsonScanner::Token JsonScanner::scalar_or_container() {
  switch (text_[at_]) {
    case '{': return open(true);
    case '[': return open(false);
    case '"':
    case '\'': return string();
    case 'T': return word("True", Token::kTrue);
    case 'F': return word("False", Token::kFalse);
    case 'N': return word("None", Token::kNull);
    case 't': return word("true", Token::kTrue);
    case 'f': return word("false", Token::kFalse);
    case 'n': return word("null", Token::kNull);
    default: return number();
  }
}

JsonScanner::Token JsonScanner::next() {
  skip_blank();
  if (done_) return at_ == text_.size() ? Token::kEnd : Token::kBad;
  if (at_ >= text_.size()) return Token::kBad;
  // Commas are accepted anywhere: the text was checked by its writer, or is only compared as a whole.
  if (text_[at_] == ',' && depth_ > 0) {
    ++at_;
    skip_blank();
    if (at_ >= text_.size()) return Token::kBad;
    expect_key_ = object_[depth_ - 1];
  }
  if (text_[at_] == '}') return close(true);
  if (text_[at_] == ']') return close(false);
  if (expect_key_) {
    if ((text_[at_] != '"' && text_[at_] != '\'') || string() == Token::kBad) return Token::kBad;
    skip_blank();
    if (at_ >= text_.size() || text_[at_] != ':') return Token::kBad;
    ++at_;
    expect_key_ = false;
    return Token::kKey;
  }
  const auto token = scalar_or_container();
  if (depth_ == 0 && token != Token::kBad) done_ = true;
  return token;
}

bool JsonScanner::leave() {
  const auto is_structure = [](const Simd16& block) {
    const auto quotes = block.equal('"') | block.equal('\'');
    return quotes | block.equal('{') | block.equal('}') | block.equal('[') | block.equal(']');
  };
  for (std::size_t open = 1; (at_ = find_in_blocks(text_, at_, is_structure)) < text_.size();) {
    switch (text_[at_]) {
      case '"':
      case '\'':
        if (string() == Token::kBad) return false;
        break;
      case '{':
      case '[':
        ++open;
        ++at_;
        break;
      default:
        ++at_;
        if (--open > 0) break;
        --depth_;
        done_ = depth_ == 0;
        expect_key_ = false;
        return true;
    }
  }
  return false;
}

bool looks_like_json(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n\v\f\r");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

std::uint64_t canonical_hash(std::string_view text, const Tolerance& tolerance) {
  const auto inner = trim(text);
  std::uint64_t hash = 0;
  if (looks_like_json(inner) && hash_json(inner, tolerance, hash)) return hash;
  return mix(3, hash_text(inner));
}

void unescape(std::string_view raw, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 >= raw.size()) {
      const auto end = std::min(raw.find('\\', i + 1), raw.size());
      out.append(raw, i, end - i);
      i = end - 1;
      continue;
    }
    switch (const char c = raw[++i]) {
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case 'r': out += '\r'; break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'u': {
        auto cp = hex4(raw, i + 1);
        i = i + 4 < raw.size() ? i + 4 : raw.size() - 1;
        if (cp >= 0xD800 && cp < 0xDC00 && raw.substr(i + 1, 2) == "\\u") {
          const auto low = hex4(raw, i + 3);
          if (low >= 0xDC00 && low < 0xE000) {
            cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
            i += 6;
          }
        }
        append_utf8(cp, out);
        break;
      }
      default: out += c; break;
    }
  }
}

}  // namespace runwarden::plugins
