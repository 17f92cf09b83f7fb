#include "common/phrases.h"

#include <algorithm>

#include "common/words.h"

namespace runwarden::plugins {
namespace {

/// The longest word without an apostrophe: "call" of "they'll call". A filter takes "they'll" for one word.
std::string_view telling_word(std::string_view phrase) {
  std::string_view longest;
  while (!phrase.empty()) {
    const auto end = std::min(phrase.find(' '), phrase.size());
    const auto word = phrase.substr(0, end);
    if (word.find('\'') == std::string_view::npos && word.size() > longest.size()) longest = word;
    phrase.remove_prefix(std::min(end + 1, phrase.size()));
  }
  return longest;
}

}  // namespace

Phrases::Phrases(const std::vector<std::string>& phrases) {
  for (const auto& phrase : phrases) {
    const auto word = telling_word(phrase);
    phrases_.push_back({phrase, hash_bytes(word)});
    telling_words_.add(word);
  }
}

bool Phrases::in(std::string_view folded, const HashSet& words) const {
  return std::any_of(phrases_.begin(), phrases_.end(), [&](const Phrase& phrase) {
    if (!words.contains(phrase.telling)) return false;
    for (auto at = folded.find(phrase.text); at != std::string_view::npos; at = folded.find(phrase.text, at + 1)) {
      const auto end = at + phrase.text.size();
      if ((at == 0 || !is_word_byte(folded[at - 1])) && (end == folded.size() || !is_word_byte(folded[end]))) return true;
    }
    return false;
  });
}

}  // namespace runwarden::plugins
