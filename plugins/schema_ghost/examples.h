#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/lexicon.h"
#include "common/reading.h"

namespace runwarden::plugins {

/// The parts of an answer that are given as an example and not as a fact: what is in a sentence with such a word, and what that
/// sentence introduces. One owner; keeps scratch memory between answers.
class Examples {
 public:
  /// Reads an answer. `specifics` are what it states, views into `text` in any order: a remark that states nothing itself ("these
  /// figures are made up") speaks of the whole answer. Linear, except for the order of the specifics.
  void read(std::string_view text, const Lexicon& lexicon, const std::vector<std::string_view>& specifics);

  /// Reads of an answer the sentences that ask or offer instead, and the lists that such a sentence introduces: what is there is
  /// proposed.
  void read_offers(std::string_view text, const Lexicon& lexicon);

  /// True when this part of the text that was read is an example, or offered.
  [[nodiscard]] bool hold(std::string_view part) const;

 private:
  /// A sentence, and the lines it is in.
  struct Piece {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t line_end = 0;
    std::size_t line_begin = 0;
  };
  struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  [[nodiscard]] static std::vector<Piece> split(std::string_view text, const Abbreviations& abbreviations);
  [[nodiscard]] bool aside() const;
  [[nodiscard]] bool states(const Piece& piece) const;
  [[nodiscard]] std::size_t reach(const Piece& piece, std::string_view text) const;

  const char* begin_ = nullptr;
  std::vector<std::size_t> stated_;  // where specifics begin, sorted
  std::vector<Span> spans_;          // in reading order, none overlaps another
  Reading reading_;
};

}  // namespace runwarden::plugins
