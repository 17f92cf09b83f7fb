#include "evidence/origin.h"

#include <algorithm>

#include "common/facts.h"
#include "common/reading.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {

void WordOrigins::clear() {
  said_.clear();
  given_.clear();
}

void WordOrigins::add(std::string_view text, HashSet& words) {
  fold(text, folded_);
  for_each_word(folded_, [&](std::string_view word) {
    words.insert(normal_id(word));
    return true;
  });
}

Origin WordOrigins::read(std::string_view message, const Lexicon& lexicon) {
  constexpr std::size_t kLongWord = 4;
  Origin origin;
  std::string buffer;
  seen_.clear();
  fold(told_of(message, buffer), folded_);
  for_each_word(folded_, [&](std::string_view word) {
    const bool digits = std::any_of(word.begin(), word.end(), is_digit);
    const auto normal = normal_id(word);
    if ((word.size() < kLongWord && !digits) || said_.contains(normal) || seen_.contains(normal) || lexicon.find(word) != nullptr)
      return true;
    seen_.insert(normal);
    ++origin.own;
    origin.drawn += given_.contains(normal) ? 1 : 0;
    return true;
  });
  return origin;
}

}  // namespace runwarden::plugins
