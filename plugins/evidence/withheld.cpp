#include "evidence/withheld.h"

#include <algorithm>
#include <array>

#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {

bool is_withheld(std::string_view output, const std::vector<std::string>& words) {
  constexpr std::size_t kLongest = 160;
  constexpr std::array<std::string_view, 3> kBrackets = {"<>", "[]", "()"};
  output = trim(output);
  if (output.size() < 4 || output.size() > kLongest) return false;
  const auto pair = std::find_if(kBrackets.begin(), kBrackets.end(), [&](auto brackets) { return output[0] == brackets[0]; });
  if (pair == kBrackets.end() || output.back() != (*pair)[1]) return false;
  const auto inside = output.substr(1, output.size() - 2);
  if (inside.find_first_of("<>[]{}\"") != std::string_view::npos) return false;
  std::string folded;
  fold(inside, folded);
  return !for_each_word(folded, [&](std::string_view word) { return std::find(words.begin(), words.end(), word) == words.end(); });
}

}  // namespace runwarden::plugins
