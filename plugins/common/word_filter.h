#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/hash_set.h"
#include "common/lexicon.h"
#include "common/words.h"

namespace runwarden::plugins {

/// Tells quickly that a text contains none of some words, so most texts need not be read. Filled once by create; one owner.
class WordFilter {
 public:
  /// Adds a folded word.
  void add(std::string_view word);

  /// Adds the words with one of the cues and, for each phrase with one, its longest word.
  void add_all(const Lexicon& lexicon, std::uint64_t cues);

  /// True when the text, not yet folded, contains one of the words.
  [[nodiscard]] bool finds(std::string_view text);

  /// Passes on the passages of a prose text that contain a wanted word, in order, each with whole sentences: paragraphs, or a few thousand
  /// bytes around the word where there are none. Words of other scripts are looked up too, so no word is missed that reading would find.
  /// `take` returns false to stop. Linear.
  template <class Wanted, class Take>
  void each_passage(std::string_view prose, const Lexicon& lexicon, Wanted wanted, Take take) {
    std::size_t done = 0;
    for (std::size_t at = 0; (at = next(prose, at)) < prose.size();) {
      const auto* entry = lexicon.find(word_at(prose, at));
      if (entry == nullptr || !wanted(*entry)) {
        ++at;
        continue;
      }
      const auto begin = passage_begin(prose, at, done, lexicon.abbreviations);
      done = passage_end(prose, at, lexicon.abbreviations);
      if (!take(prose.substr(begin, done - begin))) return;
      at = done;
    }
  }

 private:
  [[nodiscard]] static std::size_t passage_begin(std::string_view text, std::size_t at, std::size_t least,
                                                 const Abbreviations& abbreviations);
  [[nodiscard]] static std::size_t passage_end(std::string_view text, std::size_t at, const Abbreviations& abbreviations);
  [[nodiscard]] std::size_t next(std::string_view text, std::size_t at) const;
  [[nodiscard]] bool begins_unlike_all(std::string_view text, std::size_t at);
  [[nodiscard]] std::string_view word_at(std::string_view text, std::size_t at);

  std::array<std::uint64_t, 1u << 10> beginnings_{};  // one bit per hash of up to four letters
  HashSet words_;                                     // their hashes
  bool begins_wide_ = false;                          // an added word begins beyond ASCII
  std::string folded_;
};

}  // namespace runwarden::plugins
