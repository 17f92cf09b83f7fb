#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/vocabulary.h"
#include "common/word_filter.h"
#include "common/words.h"

namespace runwarden::plugins {

/// How an agent says that what it states is not from a source: "about 40", "from general knowledge". One owner; keeps scratch memory.
class Disclaimers {
 public:
  Disclaimers() = default;  // knows no words
  explicit Disclaimers(const Vocabulary& vocabulary);

  /// True when a figure is marked as approximate: "approximately **$364.24**", "about USD 40", "~40". `figure` lies inside `text`. Reads a
  /// few words.
  [[nodiscard]] bool told_roughly(std::string_view text, std::string_view figure) const;

  /// True when the agent says before a figure, in its sentence, that it sets it itself: "assuming a rate of 11.8". `figure` lies inside
  /// `text`. Reads a few words.
  [[nodiscard]] bool declared_as_guess(std::string_view text, std::string_view figure, const Abbreviations& abbreviations) const;

  /// True when a message says that it answers from what the agent knows. Linear.
  [[nodiscard]] bool draws_on_own_knowledge(std::string_view message);

 private:
  std::vector<std::string> approximations_;
  std::vector<std::string> guesses_;
  std::vector<std::string> own_knowledge_;  // "general knowledge"
  std::vector<std::string> sources_;        // "knowledge base"
  WordFilter telling_words_;                // "knowledge"; of each of these phrases the longest
  std::string folded_;
};

}  // namespace runwarden::plugins
