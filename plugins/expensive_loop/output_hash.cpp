#include "expensive_loop/output_hash.h"

#include <algorithm>

#include "common/hash_set.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::uint64_t kPrime = 0x100000001b3ull;
constexpr std::size_t kFreshDigits = 5;

bool two_digits(std::string_view text, std::size_t at) {
  return at + 1 < text.size() && is_digit(text[at]) && is_digit(text[at + 1]);
}

/// The end of a time of day with seconds whose first colon is at `colon`; 0 when there is none.
std::size_t clock_end(std::string_view text, std::size_t colon) {
  if (colon == 0 || !is_digit(text[colon - 1]) || !two_digits(text, colon + 1)) return 0;
  if (colon + 3 >= text.size() || text[colon + 3] != ':' || !two_digits(text, colon + 4)) return 0;
  auto end = colon + 6;
  if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) ++end;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end;
}

/// "[2026-05-03 10:03:11] no match": the end of the time that opens a text which goes on with several words; 0 when there is none.
std::size_t opening_clock_end(std::string_view text) {
  constexpr std::size_t kReach = 16;  // bytes of a bracket and a date
  constexpr std::size_t kFewestWords = 2;
  const auto colon = text.substr(0, kReach).find(':');
  const auto end = colon == std::string_view::npos ? 0 : clock_end(text, colon);
  if (end == 0 || text.substr(0, colon).find_first_not_of("[(0123456789-/.T ") != std::string_view::npos) return 0;
  std::size_t words = 0;
  for_each_word(text.substr(end), [&](std::string_view word) {
    words += is_ascii_letter(word[0]) && word.size() > 1 ? 1u : 0u;
    return words < kFewestWords;
  });
  return words < kFewestWords ? 0 : end;
}

}  // namespace

std::uint64_t hash_without_numbers(std::string_view text) {
  std::uint64_t hash = 0x5C;
  std::uint64_t word = 0;
  bool open = false;
  bool number = false;
  const auto letter_at = [&](std::size_t i) { return is_word_byte(static_cast<char>(text[i] | 0x20)) || text[i] == '-' || text[i] == '_'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    // A point, colon or comma between digits is part of the number: "1.52", "10:15:02".
    const bool joins =
        open && number && (text[i] == '.' || text[i] == ':' || text[i] == ',') && i + 1 < text.size() && is_digit(text[i + 1]);
    if (joins || letter_at(i)) {
      open = true;
      number |= is_digit(text[i]);
      word = (word ^ static_cast<unsigned char>(text[i])) * kPrime;
      continue;
    }
    if (open) hash = mix(hash, number ? 1 : word);
    word = 0;
    open = number = false;
    hash = mix(hash, static_cast<unsigned char>(text[i]));
  }
  return open ? mix(hash, number ? 1 : word) : hash;
}

std::uint64_t hash_without_ids(std::string_view text) {
  std::uint64_t hash = 0x3A;
  std::uint64_t word = 0;
  std::size_t digits = 0;
  std::size_t others = 0;
  const auto close = [&] {
    hash = mix(hash, digits >= kFreshDigits || (digits > 0 && others > 0) ? 1 : word);
    word = digits = others = 0;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool letter = is_ascii_letter(c) || c == '-' || c == '_';
    const bool colon = c == ':' && digits > 0 && is_digit(text[i - 1]) && i + 1 < text.size() && is_digit(text[i + 1]);
    if (!letter && !colon && !is_digit(c)) {
      close();
      hash = mix(hash, static_cast<unsigned char>(c));
      continue;
    }
    if (!colon) ++(letter ? others : digits);
    word = (word ^ static_cast<unsigned char>(c)) * kPrime;
  }
  close();
  return hash;
}

std::string_view without_clock(std::string_view text, std::string& buffer) {
  constexpr std::size_t kLongTextBytes = 100;
  const auto opening = opening_clock_end(text);
  if (text.size() < kLongTextBytes && opening == 0) return text;
  bool found = opening != 0;
  if (found) buffer.assign(text);
  if (found) std::replace_if(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(opening), is_digit, '0');
  if (text.size() < kLongTextBytes) return buffer;
  for (auto at = text.find(':', opening); at != std::string_view::npos; at = text.find(':', at + 1)) {
    const auto end = clock_end(text, at);
    if (end == 0) continue;
    if (!found) buffer.assign(text);
    found = true;
    const auto first = at > 1 && is_digit(text[at - 2]) ? at - 2 : at - 1;
    std::fill(buffer.begin() + static_cast<std::ptrdiff_t>(first), buffer.begin() + static_cast<std::ptrdiff_t>(end), '0');
  }
  return found ? std::string_view(buffer) : text;
}

std::string_view without_headers(std::string_view text, std::string& buffer) {
  constexpr std::string_view kProtocol = "HTTP/", kBlankLine = "\n\n", kBlankLineCr = "\r\n\r\n";
  if (!text.starts_with(kProtocol)) return text;
  const auto end = std::min(text.find(kBlankLine), text.find(kBlankLineCr));
  if (end == std::string_view::npos) return text;
  buffer.assign(text.substr(0, text.find_first_of("\r\n"))).append(text.substr(end));
  return buffer;
}

}  // namespace runwarden::plugins
