#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/hash_set.h"
#include "common/word_filter.h"

namespace runwarden::plugins {

/// Folded phrases to look for in many texts. A filter by one word of each rules out most texts, and the words of a text most phrases.
/// Filled once by create; one owner: keeps scratch memory.
class Phrases {
 public:
  Phrases() = default;
  explicit Phrases(const std::vector<std::string>& phrases);

  /// False for a text that holds none of the phrases; true says nothing. Needs no folding. Linear.
  [[nodiscard]] bool may_be_in(std::string_view text) { return telling_words_.finds(text); }

  /// True when a folded text holds one of the phrases, not as a part of other words. `words` are the hashes of the text's words.
  [[nodiscard]] bool in(std::string_view folded, const HashSet& words) const;

 private:
  struct Phrase {
    std::string text;
    std::uint64_t telling = 0;  // the hash of its longest word
  };

  std::vector<Phrase> phrases_;
  WordFilter telling_words_;
};

}  // namespace runwarden::plugins
