#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/hash_set.h"

namespace runwarden::plugins {

/// How much of a text was not heard before, each word once, by its form alone and so in any language.
struct News {
  std::size_t figures = 0;  // words of two digits and more
  std::size_t names = 0;    // words with a capital and a small letter that begin no sentence; none of headings
  std::size_t signs = 0;    // pairs of signs of a script without blanks
};

/// Knows the words of the texts that it heard. One owner; clear() keeps the memory.
class Unheard {
 public:
  void clear() { heard_.clear(); }

  /// Takes in the words of a text. Linear.
  void hear(std::string_view text);

  /// What of a text was not heard; code says nothing. Of a message longer than anybody is told, its beginning and end. Linear.
  [[nodiscard]] News news(std::string_view message);

 private:
  HashSet heard_;
  HashSet counted_;  // of the text that is looked at
  std::string buffer_;
};

}  // namespace runwarden::plugins
