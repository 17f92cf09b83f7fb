#include "guardrail/phrases.h"

#include <algorithm>

#include "base/ascii.h"
#include "common/tools.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::guardrail {

std::string words_of(std::string_view text) {
  std::string folded;
  plugins::fold(text, folded);
  std::string words = " ";
  words.reserve(folded.size() + 2);
  plugins::for_each_word(folded, [&](std::string_view word) {
    words.append(word).append(" ");
    return true;
  });
  return words;
}

std::string words_of_name(std::string_view tool) {
  std::vector<std::string> parts;
  plugins::split_tool_name(tool, parts);
  std::string joined;
  for (const std::string& part : parts) joined.append(part).append(" ");
  return words_of(joined);
}

std::int64_t digits_in(std::string_view text) {
  return std::count_if(text.begin(), text.end(), ascii::is_digit);
}

Phrases::Phrases(const std::vector<std::string>& words) {
  for (const std::string& one : words) {
    const std::string phrase = words_of(one).substr(1);
    if (!phrase.empty()) by_first_[phrase.substr(0, phrase.find(' ') + 1)].push_back(phrase);
  }
}

bool Phrases::stand_in(std::string_view words) const {
  for (std::size_t at = 1; at < words.size();) {
    const std::size_t end = words.find(' ', at) + 1;
    const auto found = by_first_.find(words.substr(at, end - at));
    if (found != by_first_.end()) {
      const std::string_view rest = words.substr(at);
      if (std::any_of(found->second.begin(), found->second.end(), [&](const auto& phrase) { return rest.starts_with(phrase); }))
        return true;
    }
    at = end;
  }
  return false;
}

}  // namespace runwarden::guardrail
