#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/hash_set.h"

namespace runwarden::plugins {

/// How much of a text is new, each word counted once. Judges words by their form alone, so it works in any language.
struct News {
  std::size_t figures = 0;  // words with two or more digits
  std::size_t names = 0;    // words with a capital and a lowercase letter, not at the start of a sentence and not in a heading
  std::size_t signs = 0;    // pairs of characters in a script without blanks
};

/// Remembers the words of the texts that it was given. One owner; clear() keeps the memory.
class Unheard {
 public:
  void clear() { heard_.clear(); }

  /// Adds the words of a text. Linear.
  void hear(std::string_view text);

  /// What is new in a message, ignoring code. Reads only the beginning and end of a very long message. Linear.
  [[nodiscard]] News news(std::string_view message);

 private:
  HashSet heard_;
  HashSet counted_;  // in the message being counted
  std::string buffer_;
};

}  // namespace runwarden::plugins
