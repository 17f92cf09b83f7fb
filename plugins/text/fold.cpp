#include "text/fold.h"

#include <utf8proc.h>

#include <cstdint>
#include <cstring>

namespace runwarden::plugins {
namespace {

/// The offset of the first byte beyond ASCII from `at` on, else the text's length; reads eight bytes at a time.
std::size_t ascii_until(std::string_view text, std::size_t at) {
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t block = 0;
    std::memcpy(&block, text.data() + at, 8);
    if ((block & 0x8080808080808080ull) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

/// Copies ASCII text in lower case, eight bytes at a time.
void lower_ascii(const char* from, std::size_t count, char* to) {
  constexpr std::uint64_t kEvery = 0x0101010101010101ull;
  std::size_t k = 0;
  for (; k + 8 <= count; k += 8) {
    std::uint64_t block = 0;
    std::memcpy(&block, from + k, 8);
    const auto upper = (block + kEvery * (0x80 - 'A')) & ~(block + kEvery * (0x80 - 'Z' - 1)) & (kEvery * 0x80);
    block += upper >> 2;  // 0x20 for each capital letter
    std::memcpy(to + k, &block, 8);
  }
  for (; k < count; ++k) to[k] = to_lower(from[k]);
}

// The fixed ASCII replacement of a character; 0 without one.
char stand_in(utf8proc_int32_t cp) {
  switch (cp) {
    case 0x2018:
    case 0x2019:
    case 0x201B:
    case 0x2032:
    case 0x02BC:
    case 0x00B4: return '\'';
    case 0x201C:
    case 0x201D:
    case 0x201E:
    case 0x2033:
    case 0x00AB:
    case 0x00BB: return '"';
    case 0x2010:
    case 0x2011:
    case 0x2012:
    case 0x2013:
    case 0x2014:
    case 0x2015:
    case 0x2212: return '-';
    case 0x2026: return '.';
    case 0x3002:
    case 0xFF0E: return '.';
    case 0xFF01: return '!';
    case 0xFF1F:
    case 0x061F: return '?';
    case 0x3001:
    case 0xFF0C: return ',';
    default: return 0;
  }
}

bool is_letter_or_digit(utf8proc_category_t category) {
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO);
}

bool is_currency(utf8proc_category_t category) {
  return category == UTF8PROC_CATEGORY_SC;
}

void append(utf8proc_int32_t cp, std::string& out) {
  utf8proc_uint8_t bytes[4];
  const auto n = utf8proc_encode_char(cp, bytes);
  out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(n));
}

// Folds one character beyond ASCII. Each is decomposed separately and its marks are dropped, so composed and decomposed spellings match and
// marks never need reordering, which is quadratic.
void fold_wide(utf8proc_int32_t cp, std::string& out) {
  if (const char c = stand_in(cp); c != 0) {
    // A long dash separates clauses even without a blank beside it.
    if (cp == 0x2014 || cp == 0x2015) {
      out += " - ";
    } else {
      out += c;
    }
    return;
  }
  if (cp == 0x00AD || (cp >= 0x200B && cp <= 0x200D) || cp == 0x2060 || cp == 0xFEFF || (cp >= 0xFE00 && cp <= 0xFE0F)) return;
  const auto category = utf8proc_category(cp);
  if (category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME) return;
  if (is_currency(category)) {
    append(cp, out);
    return;
  }
  if (!is_letter_or_digit(category)) {
    out += ' ';
    return;
  }
  utf8proc_int32_t parts[32];
  int boundary = 0;
  const auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_STRIPMARK | UTF8PROC_IGNORE);
  const auto n = utf8proc_decompose_char(cp, parts, 32, options, &boundary);
  if (n < 0 || n > 32) {
    append(cp, out);
    return;
  }
  for (utf8proc_ssize_t i = 0; i < n; ++i) append(parts[i], out);
}

/// True for a vowel with an acute accent that ends a word. `rest` is the text behind it.
bool is_stressed_end(utf8proc_int32_t cp, std::string_view rest) {
  const bool vowel = cp == 0xE1 || cp == 0xE9 || cp == 0xED || cp == 0xF3 || cp == 0xFA;
  return vowel && (rest.empty() || (static_cast<unsigned char>(rest[0]) < 0x80 && !is_ascii_letter(rest[0]) && !is_digit(rest[0])));
}

/// Folds; `take` gets each character beyond ASCII before it is folded, and the text behind it.
template <class Take>
void fold_each(std::string_view text, std::string& out, Take take) {
  out.clear();
  out.reserve(text.size() + 8);
  std::size_t i = 0;
  while (i < text.size()) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      const auto end = ascii_until(text, i);
      const auto at = out.size();
      out.resize(at + end - i);
      char* to = out.data() + at;
      const char* from = text.data() + i;
      lower_ascii(from, end - i, to);
      i = end;
      continue;
    }
    utf8proc_int32_t cp = -1;
    const auto n =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + i), static_cast<utf8proc_ssize_t>(text.size() - i), &cp);
    if (n <= 0 || cp < 0) {
      out += ' ';
      ++i;
      continue;
    }
    i += static_cast<std::size_t>(n);
    take(cp, text.substr(i));
    fold_wide(cp, out);
  }
}

}  // namespace

void fold(std::string_view text, std::string& out) {
  fold_each(text, out, [](utf8proc_int32_t, std::string_view) {});
}

void fold(std::string_view text, std::string& out, std::vector<std::uint32_t>& stressed) {
  stressed.clear();
  fold_each(text, out, [&](utf8proc_int32_t cp, std::string_view rest) {
    if (is_stressed_end(cp, rest)) stressed.push_back(static_cast<std::uint32_t>(out.size()));
  });
}

std::string_view with_plain_signs(std::string_view text, std::string& buffer) {
  auto i = ascii_until(text, 0);
  if (i == text.size()) return text;
  buffer.assign(text.substr(0, i));
  while (i < text.size()) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      const auto end = ascii_until(text, i);
      buffer.append(text, i, end - i);
      i = end;
      continue;
    }
    utf8proc_int32_t cp = -1;
    const auto n =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + i), static_cast<utf8proc_ssize_t>(text.size() - i), &cp);
    const auto bytes = n <= 0 || cp < 0 ? 1 : static_cast<std::size_t>(n);
    if (n <= 0 || cp < 0) {
      buffer += ' ';
    } else if (const char c = stand_in(cp); c != 0) {
      buffer += c;
    } else if (is_letter_or_digit(utf8proc_category(cp)) || is_currency(utf8proc_category(cp)) ||
               utf8proc_category(cp) == UTF8PROC_CATEGORY_MN) {
      buffer.append(text.substr(i, bytes));
    } else {
      buffer += ' ';
    }
    i += bytes;
  }
  return buffer;
}

std::string_view cut(std::string_view text, std::size_t limit) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
    if (characters == limit) return text.substr(0, i);
    ++characters;
  }
  return text;
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace runwarden::plugins
