#include "evidence/acknowledgement.h"

#include <algorithm>

#include "common/tools.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {

bool only_acknowledges(std::string_view output, std::string_view tool) {
  constexpr std::size_t kLongest = 120;
  constexpr std::size_t kMostWords = 6;  // in addition to the name
  output = trim(output);
  tool = base_name(tool);
  if (output.size() > kLongest || tool.empty()) return false;
  const auto at = output.find(tool);
  if (at == std::string_view::npos) return false;
  std::size_t words = 0;
  const auto plain = [&](std::string_view word) { return ++words <= kMostWords && std::none_of(word.begin(), word.end(), is_digit); };
  return for_each_word(output.substr(0, at), plain) && for_each_word(output.substr(at + tool.size()), plain);
}

}  // namespace runwarden::plugins
