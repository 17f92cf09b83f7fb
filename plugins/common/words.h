#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "common/simd16.h"
#include "text/ascii.h"

namespace runwarden::plugins {

/// The languages of a vocabulary, one bit per number.
using LanguageSet = std::uint32_t;

/// What precedes a word.
enum class Break : std::uint8_t { kNone, kComma, kClause, kSentence };

/// One word of a folded text, and the break before it.
struct RawWord {
  std::string_view text;
  Break before = Break::kNone;
  char sentence_end = 0;      // the mark that closed the sentence before it: '.', '?', '!' or newline
  LanguageSet shortened = 0;  // languages in which the point before it ended no sentence, although it does in others
};

/// A fast hash of a few bytes (FNV-1a with a final mix). Not for hash tables of untrusted keys that grow without bound.
inline std::uint64_t hash_bytes(std::string_view bytes) {
  std::uint64_t h = 0xcbf29ce484222325ull;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  h ^= h >> 32;
  h *= 0x9e3779b97f4a7c15ull;
  return h ^ (h >> 29);
}

/// A hash of a long text, eight bytes at a time.
inline std::uint64_t hash_text(std::string_view text) {
  std::uint64_t h = 0x9e3779b97f4a7c15ull ^ text.size();
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i, 8);
    h = (h ^ word) * 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  }
  return h ^ hash_bytes(text.substr(i));
}

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdull;
  return h ^ (h >> 32);
}

inline constexpr auto kWordBytes = [] {
  std::array<bool, 256> table{};
  for (std::size_t i = 0; i < 256; ++i) table[i] = is_lower(static_cast<char>(i)) || is_digit(static_cast<char>(i)) || i >= 0x80;
  return table;
}();
inline bool is_word_byte(char c) {
  return kWordBytes[static_cast<unsigned char>(c)];
}

/// A letter of either case, a digit, or a byte beyond ASCII.
inline bool is_letter_or_digit(char c) {
  return is_word_byte(c) || (c >= 'A' && c <= 'Z');
}

/// A letter of either case, or a byte beyond ASCII.
inline bool is_letter(char c) {
  return is_letter_or_digit(c) && !is_digit(c);
}

/// Passes on the words of an unfolded text (runs of letters and digits) until `take` returns false; returns false if it did.
template <class Take>
bool for_each_word(std::string_view text, Take take) {
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t at = 0; at < text.size(); at += Simd16::kBytes) {
    const Simd16 block(text, at);
    const auto word = block.letters() | block.digits() | block.wide();
    // A bit for each byte whose class differs from that of the byte before it: where a word begins or ends.
    auto edges = (word ^ (word << 1 | std::uint32_t{inside})) & Simd16::kAll;
    for (; edges != 0; edges &= edges - 1) {
      const auto place = at + static_cast<std::size_t>(std::countr_zero(edges));
      if (inside && !take(text.substr(begin, place - begin))) return false;
      begin = place;
      inside = !inside;
    }
  }
  return !inside || take(text.substr(begin));
}

/// How many words an unfolded text has.
inline std::size_t count_words(std::string_view text) {
  std::size_t words = 0;
  for_each_word(text, [&](std::string_view) { return ++words != 0; });
  return words;
}

inline bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// The word that ends at `end`, which may be an abbreviation with its point there; at most eight bytes.
[[nodiscard]] std::string_view word_before(std::string_view text, std::size_t end);

/// The words whose point does not end a sentence, by language. Filled once, then read-only.
class Abbreviations {
 public:
  void add(std::string_view folded, std::size_t language);

  /// The languages in which the word is an abbreviation; all for a single letter.
  [[nodiscard]] LanguageSet of(std::string_view word) const;

 private:
  struct Word {
    std::string text;
    LanguageSet languages;
  };
  std::array<std::vector<Word>, 32> by_letter_;
};

/// The longest word of a phrase, by which a filter finds it. A view into `phrase`.
[[nodiscard]] std::string_view longest_word(std::string_view phrase);

/// The text without a bracketed note at its end: "DELETE 0 (0.02 sec)".
[[nodiscard]] std::string_view without_note(std::string_view text);

/// True when a folded text holds one of the folded phrases, not as a part of other words. Linear in the text, for each phrase.
[[nodiscard]] bool holds_any(std::string_view folded, const std::vector<std::string>& phrases);

/// Walks the words of a folded text once, left to right. A word is letters and digits, with inner apostrophes and with points and commas
/// between digits ("don't", "3.50", "1,200"). Without abbreviations, a point ends a sentence after any word except a single letter.
class WordCursor {
 public:
  explicit WordCursor(std::string_view folded, const Abbreviations* abbreviations = nullptr)
      : text_(folded), abbreviations_(abbreviations) {}

  /// The next word; at the end, returns false, and `word.sentence_end` holds the last mark.
  bool next(RawWord& word);

 private:
  [[nodiscard]] bool opens_emphasis() const;
  void read_break(RawWord& word);
  void read_mark(RawWord& word, bool& line_start);
  void read_point(RawWord& word);

  std::string_view text_;
  const Abbreviations* abbreviations_;
  std::size_t at_ = 0;
};

}  // namespace runwarden::plugins
