#include "common/word_filter.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/simd16.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kBeginning = 4;
constexpr std::size_t kLongestWord = 64;
constexpr std::size_t kReach = 4096;  // bytes; a longer sentence is split
constexpr std::uint64_t kHigh = 0x8080808080808080ull;

constexpr std::uint64_t every(std::uint64_t byte) {
  return byte * 0x0101010101010101ull;
}

/// The high bit of each byte that is an ASCII letter or digit.
std::uint64_t inner_bytes(std::uint64_t block) {
  const auto low = block & ~kHigh;
  const auto lower = low | every(0x20);
  const auto letters = (lower + every(0x80 - 'a')) & ~(lower + every(0x80 - 'z' - 1));
  const auto digits = (low + every(0x80 - '0')) & ~(low + every(0x80 - '9' - 1));
  return (letters | digits) & kHigh & ~block;
}

bool letter_or_digit(char c) {
  return is_digit(c) || static_cast<unsigned char>((c | 0x20) - 'a') < 26;
}

std::uint32_t hash_beginning(std::uint32_t letters) {
  return (letters * 0x9e3779b1u) >> 16;
}

/// Four letters and digits as a number, in lower case.
std::uint32_t low_letters(const char* four) {
  std::uint32_t block = 0;
  std::memcpy(&block, four, kBeginning);
  if constexpr (std::endian::native == std::endian::big) block = __builtin_bswap32(block);
  return block | static_cast<std::uint32_t>(every(0x20));  // digits already have this bit
}

/// Up to four letters of a word as a number, in lower case. False when one of them is beyond ASCII.
bool beginning_of(std::string_view text, std::size_t at, std::uint32_t& letters) {
  std::uint32_t block = 0;
  if (at + kBeginning <= text.size()) {
    std::memcpy(&block, text.data() + at, kBeginning);
  } else {
    std::memcpy(&block, text.data() + at, text.size() - at);
  }
  if constexpr (std::endian::native == std::endian::big) block = __builtin_bswap32(block);
  const auto beyond = static_cast<std::uint32_t>(block & kHigh);
  const auto outside = static_cast<std::uint32_t>(~inner_bytes(block) & kHigh);
  letters = block | static_cast<std::uint32_t>(every(0x20));  // digits already have this bit
  if (outside == 0) return true;
  const auto bits = std::countr_zero(outside) - 7;
  letters &= (1u << bits) - 1;
  return ((beyond >> (bits + 7)) & 1) == 0;
}

/// True for a mark that also ends a sentence for WordCursor.
bool ends_sentence(std::string_view text, std::size_t at, const Abbreviations& abbreviations) {
  switch (text[at]) {
    case '!':
    case '?': return true;
    case '\n': return at > 0 && text[at - 1] == '\n';
    case '.': return at + 1 < text.size() && blank(text[at + 1]) && abbreviations.of(word_before(text, at)) == 0;
    default: return false;
  }
}

/// True for the first byte of a letter beyond ASCII; false for symbols and pictures in the blocks that prose uses.
bool may_be_letter(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  const auto second = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0;
  if (byte < 0xC3) return false;
  if (byte == 0xF0) return second != 0x9F;
  return byte != 0xE2 || second >= 0xB0 || second == 0x84 || second == 0x85;
}

}  // namespace

void WordFilter::add(std::string_view word) {
  if (word.empty()) return;
  words_.insert(hash_bytes(word));
  begins_wide_ |= static_cast<unsigned char>(word[0]) >= 0x80;
  std::uint32_t letters = 0;
  if (!beginning_of(word, 0, letters)) return;
  const auto hash = hash_beginning(letters);
  beginnings_[hash / 64] |= std::uint64_t{1} << (hash % 64);
}

void WordFilter::add_all(const Lexicon& lexicon, std::uint64_t cues) {
  const auto shorter = [](const std::string& a, const std::string& b) { return a.size() < b.size(); };
  for (const auto& phrase : lexicon.phrases()) {
    if (has(phrase.cues, cues)) add(*std::max_element(phrase.words.begin(), phrase.words.end(), shorter));
  }
  for (const auto& word : lexicon.words()) {
    if (has(word.cues, cues)) add(word.word);
  }
}

/// The offset of the next word that may be one of those added.
std::size_t WordFilter::next(std::string_view text, std::size_t at) const {
  const auto wanted = [&](std::uint32_t letters) {
    const auto hash = hash_beginning(letters);
    return ((beginnings_[hash / 64] >> (hash % 64)) & 1) != 0;
  };
  const auto candidate = [&](std::size_t begin) {
    if (static_cast<unsigned char>(text[begin]) >= 0x80) return may_be_letter(text, begin);
    std::uint32_t letters = 0;
    return !beginning_of(text, begin, letters) || wanted(letters);
  };
  const auto wanted_short = [&](std::size_t begin, std::uint32_t word) {
    const auto bits = 8u * static_cast<unsigned>(std::countr_zero(~word));
    return wanted(low_letters(text.data() + begin) & ((1u << bits) - 1));
  };
  std::uint32_t before = at > 0 && letter_or_digit(text[at - 1]) ? 1 : 0;
  for (; at < text.size(); at += Simd16::kBytes) {
    const Simd16 block(text, at);
    const auto word = block.letters() | block.digits();
    const auto wide = block.wide();
    auto begins = (word | wide) & ~(word << 1 | before);
    before = word >> (Simd16::kBytes - 1);
    // Words whose first four bytes are in this block and in ASCII need no second look at the bytes.
    constexpr std::uint32_t kFour = 0xF, kWithin = Simd16::kAll >> (kBeginning - 1);
    for (; begins != 0; begins &= begins - 1) {
      const auto place = static_cast<std::size_t>(std::countr_zero(begins));
      const auto here = at + place;
      const bool plain = (kWithin >> place & 1) != 0 && here + kBeginning <= text.size() && (wide >> place & kFour) == 0;
      const auto first = word >> place & kFour;
      const bool found = !plain ? candidate(here) : first == kFour ? wanted(low_letters(text.data() + here)) : wanted_short(here, first);
      if (found) return here;
    }
  }
  return text.size();
}

std::size_t WordFilter::passage_begin(std::string_view text, std::size_t at, std::size_t least, const Abbreviations& abbreviations) {
  const auto from = at - least > kReach ? at - kReach : least;
  for (; at > from; --at) {
    if (ends_sentence(text, at - 1, abbreviations)) return at;
  }
  return from;
}

std::size_t WordFilter::passage_end(std::string_view text, std::size_t at, const Abbreviations& abbreviations) {
  const auto end = std::min(text.size(), at + kReach);
  while (at < end && !ends_sentence(text, at, abbreviations)) ++at;
  // The first mark may be followed by more.
  while (at < end && !blank(text[at]) && !letter_or_digit(text[at])) ++at;
  return at;
}

bool WordFilter::finds(std::string_view text) {
  for (std::size_t at = 0; (at = next(text, at)) < text.size(); ++at) {
    if (words_.contains(hash_bytes(word_at(text, at)))) return true;
  }
  return false;
}

/// True for a letter beyond ASCII that stays so when folded, if no added word begins with one: in other scripts, each letter may begin a
/// word.
bool WordFilter::begins_unlike_all(std::string_view text, std::size_t at) {
  if (begins_wide_ || at >= text.size() || static_cast<unsigned char>(text[at]) < 0x80) return false;
  auto end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  fold(text.substr(at, end - at), folded_);
  const bool wide = !folded_.empty() && static_cast<unsigned char>(folded_[0]) >= 0x80;
  folded_.clear();
  return wide;
}

/// The word that begins at an offset, folded; valid until the next call.
std::string_view WordFilter::word_at(std::string_view text, std::size_t at) {
  auto end = at;
  folded_.clear();
  while (end < text.size() && end - at < kLongestWord && letter_or_digit(text[end])) folded_ += static_cast<char>(text[end++] | 0x20);
  if (end == at && begins_unlike_all(text, at)) return {};
  const char behind = end < text.size() ? text[end] : ' ';
  if (end > at && static_cast<unsigned char>(behind) < 0x80 && behind != '\'') return folded_;
  while (end < text.size() && end - at < kLongestWord &&
         (letter_or_digit(text[end]) || static_cast<unsigned char>(text[end]) >= 0x80 || text[end] == '\'')) {
    ++end;
  }
  fold(text.substr(at, end - at), folded_);
  WordCursor cursor(folded_);
  RawWord word;
  return cursor.next(word) ? word.text : std::string_view{};
}

}  // namespace runwarden::plugins
