#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/json_scan.h"
#include "common/reading.h"
#include "common/recovery.h"
#include "common/words.h"

namespace runwarden::plugins {

inline constexpr std::size_t kLongestValue = 60;
inline constexpr std::size_t kMostValues = 64;
inline constexpr double kNoTrouble = 0.5;
inline constexpr std::size_t kPrinted = 1000;  // bytes of output, more than an error alone takes

/// "category": "category" is a placeholder, not a value.
[[nodiscard]] inline bool is_placeholder(const CallValue& value) {
  return value.normal == normal_id(value.key);
}

/// Reads a text, and the names in it as words: "already_muted". Replaces `out`.
inline void read_names(std::string text, const Lexicon& lexicon, Reading& out) {
  std::replace(text.begin(), text.end(), '_', ' ');
  read(text, lexicon, out);
}

/// True when the arguments only name what to look up, {"port": "Whitby", "day": 3}: they hold no program and nothing to calculate.
[[nodiscard]] inline bool asks_by_names(std::string_view input, const CallNames& names) {
  constexpr std::size_t kLongest = 300;
  return input.size() <= kLongest && looks_like_json(input) && input.find_first_of("*+^=()") == std::string_view::npos &&
         std::none_of(names.formula_names.begin(), names.formula_names.end(),
                      [&](const auto& name) { return input.find(name) != std::string_view::npos; });
}

/// True when a negation comes shortly before a word in its clause, with no claim in between: "... and no boats of that size". Not in "there
/// was no berth, so I moored".
[[nodiscard]] inline bool negated_before(const Reading& reading, const Sentence& sentence, std::uint32_t at) {
  constexpr std::uint32_t kReach = 4;
  for (auto i = at; i > sentence.begin && at - i < kReach; --i) {
    const auto& word = reading.words[i - 1];
    if (has(word.cues, kCueNegation)) return true;
    if (has(word.cues, kCueConjunction) && word.before != Break::kNone) return false;
    if (std::any_of(reading.claims.begin(), reading.claims.end(), [&](const Claim& claim) { return claim.word == i - 1; })) return false;
  }
  return false;
}

}  // namespace runwarden::plugins
