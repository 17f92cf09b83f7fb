#include "redact/normal_text.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/hex.h"
#include "base/utf8.h"
#include "redact/unicode_fold.h"

namespace runwarden::redact {
namespace {

// The value of `digits` hexadecimal digits at `at`; empty if there are fewer.
std::optional<char32_t> hex_at(std::string_view text, std::size_t at, std::size_t digits) {
  if (at > text.size() || text.size() - at < digits) return std::nullopt;
  char32_t value = 0;
  for (std::size_t i = at; i < at + digits; ++i) {
    const int digit = hex_digit(text[i]);
    if (digit < 0) return std::nullopt;
    value = value << 4 | static_cast<char32_t>(digit);
  }
  return value;
}

std::string utf8_of(char32_t c) {
  const auto tail = [c](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0 | c >> 6), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0 | c >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | c >> 18), tail(12), tail(6), tail(0)};
}

// Decodes a complete character beyond ASCII.
char32_t character_at(std::string_view text, std::size_t at, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[at + i])); };
  char32_t c = byte(0) & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) c = c << 6 | (byte(i) & 0x3F);
  return c;
}

// Most texts have none of these, so eight bytes are checked at once.
bool any_special(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x8080808080808080;
  const auto has = [](std::uint64_t word, char c) {
    const std::uint64_t zeros = word ^ (kOnes * static_cast<unsigned char>(c));
    return (zeros - kOnes) & ~zeros & kHighs;
  };
  constexpr std::size_t kStride = sizeof(std::uint64_t);
  const auto special = [&](std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, kStride);
    return ((word & kHighs) | has(word, '\\') | has(word, '%') | has(word, '&')) != 0;
  };
  if (text.size() < kStride) {
    return std::any_of(text.begin(), text.end(),
                       [](char c) { return c == '\\' || c == '%' || c == '&' || static_cast<unsigned char>(c) >= 0x80; });
  }
  for (std::size_t i = 0; i + kStride <= text.size(); i += kStride) {
    if (special(i)) return true;
  }
  return special(text.size() - kStride);
}

// The ellipsis of a truncated quotation: the rest of the quoted text is missing.
bool is_cut_at(std::string_view text, std::size_t at) {
  return at >= text.size() || text[at] == '"' || text[at] == '\'' || text[at] == '.' || static_cast<unsigned char>(text[at]) >= 0x80;
}

}  // namespace

void NormalText::Layer::copy(std::string_view of, std::size_t from, std::size_t to) {
  if (from == to) return;
  const bool goes_on = !pieces.empty() && pieces.back().to == 0 && pieces.back().from + (text.size() - pieces.back().at) == from;
  if (!goes_on) pieces.push_back({static_cast<std::uint32_t>(text.size()), static_cast<std::uint32_t>(from), 0});
  text.append(of.substr(from, to - from));
}

void NormalText::Layer::put(std::string_view character, std::size_t from, std::size_t to) {
  if (character.empty()) return;
  pieces.push_back({static_cast<std::uint32_t>(text.size()), static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to)});
  text.append(character);
}

const NormalText::Piece& NormalText::Layer::piece_at(std::size_t at) const {
  return *(std::upper_bound(pieces.begin(), pieces.end(), at, [](std::size_t a, const Piece& b) { return a < b.at; }) - 1);
}

TextRange NormalText::Layer::written(TextRange range) const {
  if (range.begin >= range.end) return {};
  const Piece& first = piece_at(range.begin);
  const Piece& last = piece_at(range.end - 1);
  return {first.to == 0 ? first.from + (range.begin - first.at) : first.from, last.to == 0 ? last.from + (range.end - last.at) : last.to};
}

// Decodes %XX, also if it was encoded several times (%2540), and HTML character references.
class NormalText::UrlReader {
 public:
  UrlReader(std::string_view in, Layer& out) : in_(in), out_(out) {}

  // False if there are none.
  bool read() {
    std::size_t done = 0;
    bool any = false;
    for (std::size_t at = 0; at < in_.size();) {
      if (in_[at] != '%' && in_[at] != '&') {
        ++at;
        continue;
      }
      const std::size_t end = in_[at] == '%' ? percent(at) : reference(at);
      if (end == at) {
        ++at;
        continue;
      }
      any = true;
      out_.copy(in_, done, at);
      out_.put(character_, at, end);
      done = at = end;
    }
    if (any) out_.copy(in_, done, in_.size());
    return any;
  }

 private:
  std::size_t percent(std::size_t at) {
    std::size_t digits = at + 1;
    while (in_.substr(digits, 2) == "25" && hex_at(in_, digits + 2, 2)) digits += 2;
    const auto byte = hex_at(in_, digits, 2);
    if (!byte) return at;
    character_.assign(1, static_cast<char>(*byte));
    return digits + 2;
  }

  std::size_t reference(std::size_t at) {
    struct Named {
      std::string_view name;
      const char* character;
    };
    constexpr Named kNamed[] = {{"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}, {"&nbsp;", " "}};
    constexpr std::size_t kMostDigits = 7;
    for (const Named& one : kNamed) {
      if (!in_.substr(at).starts_with(one.name)) continue;
      character_ = one.character;
      return at + one.name.size();
    }
    if (at + 2 >= in_.size() || in_[at + 1] != '#') return at;
    const bool hex = in_[at + 2] == 'x' || in_[at + 2] == 'X';
    std::size_t i = at + (hex ? 3 : 2);
    const std::size_t begin = i;
    char32_t c = 0;
    for (; i < in_.size() && i - begin < kMostDigits; ++i) {
      const int digit = hex_digit(in_[i]);
      if (digit < 0 || (!hex && digit > 9)) break;
      c = c * (hex ? 16 : 10) + static_cast<char32_t>(digit);
    }
    const bool good = i > begin && i < in_.size() && in_[i] == ';' && c > 0 && c < 0x110000 && (c < 0xD800 || c > 0xDFFF);
    if (!good) return at;
    character_ = utf8_of(c);
    return i + 1;
  }

  std::string_view in_;
  Layer& out_;
  std::string character_;
};

// Decodes escapes with a backslash, or with several where JSON is nested in strings, and folds characters that look like ASCII.
class NormalText::EscapeReader {
 public:
  EscapeReader(std::string_view in, Layer& out) : in_(in), out_(out) {}

  bool ambiguous = false;

  void read() {
    std::size_t at = 0;
    std::size_t done = 0;
    while (at < in_.size()) {
      if (in_[at] != '\\' && static_cast<unsigned char>(in_[at]) < 0x80) {
        ++at;
        continue;
      }
      const std::size_t end = in_[at] == '\\' ? escape(at) : beyond_ascii(at);
      if (!as_written_) {
        out_.copy(in_, done, at);
        out_.put(character_, at, end);
        done = end;
      }
      at = end;
    }
    out_.copy(in_, done, in_.size());
  }

 private:
  std::size_t becomes(char32_t c, std::size_t end) {
    as_written_ = false;
    const char32_t as = folded(c);
    character_ = as == kIgnorable ? std::string() : utf8_of(as);
    return end;
  }

  std::size_t beyond_ascii(std::size_t at) {
    const std::size_t length = utf8_length_at(in_, at);
    if (length > 0) {
      const char32_t c = character_at(in_, at, length);
      if (folded(c) != c) return becomes(c, at + length);
    }
    as_written_ = true;
    return at + std::max<std::size_t>(length, 1);
  }

  std::size_t escape(std::size_t at) {
    std::size_t letter = at;
    while (letter < in_.size() && in_[letter] == '\\') ++letter;
    const std::size_t backslashes = letter - at;
    ambiguous = true;
    switch (letter < in_.size() ? in_[letter] : '\0') {
      case 'u': return unicode(at, letter + 1, backslashes);
      case 'x':
        if (const auto byte = hex_at(in_, letter + 1, 2)) return becomes(*byte, letter + 3);
        return cut_or(letter, 2);
      case 'n':
      case 'r': return becomes('\n', letter + 1);
      case 't': return becomes('\t', letter + 1);
      case '"':
      case '\'':
      case '/': return becomes(static_cast<unsigned char>(in_[letter]), letter + 1);
      default: return becomes('\\', letter);
    }
  }

  std::size_t unicode(std::size_t at, std::size_t digits, std::size_t backslashes) {
    const auto high = hex_at(in_, digits, 4);
    if (!high) return cut_or(digits - 1, 4);
    const std::size_t end = digits + 4;
    if (*high < 0xD800 || *high > 0xDFFF)
      return becomes(*high < 0x20 && *high != '\t' && *high != '\n' && *high != '\r' ? kIgnorable : *high, end);
    const std::size_t second = end + backslashes;
    const bool more = *high < 0xDC00 && in_.substr(std::min(end, in_.size()), backslashes) == in_.substr(at, backslashes) &&
                      second < in_.size() && in_[second] == 'u';
    const auto low = more ? hex_at(in_, second + 1, 4) : std::nullopt;
    if (!low || *low < 0xDC00 || *low > 0xDFFF) return becomes(kIgnorable, end);
    return becomes(0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00), second + 5);
  }

  // A truncated escape at the end of a quotation is dropped; anything else is not an escape.
  std::size_t cut_or(std::size_t letter, std::size_t digits) {
    std::size_t end = letter + 1;
    while (end < in_.size() && end - letter <= digits && hex_digit(in_[end]) >= 0) ++end;
    return is_cut_at(in_, end) ? becomes(kIgnorable, end) : becomes('\\', letter);
  }

  std::string_view in_;
  Layer& out_;
  std::string character_;
  bool as_written_ = false;
};

NormalText::NormalText(std::string_view written, Reading reading) : written_(written), text_(written) {
  if (reading == Reading::as_written || !any_special(written)) return;
  layers_.reserve(2);
  Layer decoded;
  if (UrlReader(text_, decoded).read()) {
    layers_.push_back(std::move(decoded));
    text_ = layers_.back().text;
    ambiguous_ = true;
  }
  Layer range;
  EscapeReader reader(text_, range);
  reader.read();
  ambiguous_ = ambiguous_ || reader.ambiguous;
  const bool changed =
      range.pieces.size() > 1 || (range.pieces.size() == 1 && range.pieces[0].to != 0) || range.text.size() != text_.size();
  if (!changed) return;
  layers_.push_back(std::move(range));
  text_ = layers_.back().text;
}

TextRange NormalText::written(TextRange range) const {
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) range = layer->written(range);
  return range;
}

std::size_t NormalText::width(std::size_t at) const {
  if (layers_.empty()) return 1;
  const TextRange one = written({at, at + 1});
  return one.end - one.begin;
}

bool NormalText::percent_encoded(std::size_t at) const {
  return !layers_.empty() && text_[at] != '%' && written_[written({at, at + 1}).begin] == '%';
}

}  // namespace runwarden::redact
