#include "evidence/rough_figure.h"

#include <algorithm>

#include "common/fold.h"
#include "common/words.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kReach = 40;  // bytes before the figure

bool ends_with_word(std::string_view text, std::string_view word) {
  return text.ends_with(word) && (text.size() == word.size() || !is_letter_or_digit(text[text.size() - word.size() - 1]));
}

std::string_view up_to_last_letter(std::string_view text) {
  while (!text.empty() && !is_letter_or_digit(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

bool told_roughly(std::string_view text, std::string_view figure, std::span<const std::string> words) {
  const auto at = static_cast<std::size_t>(figure.data() - text.data());
  const auto begin = at - std::min(at, kReach);
  auto before = text.substr(begin, at - begin);
  before.remove_prefix(std::min(before.find_last_of(".;:!?\n") + 1, before.size()));
  if (before.ends_with('~') || before.ends_with("~$") || before.ends_with("\u2248")) return true;
  std::string folded;
  fold(before, folded);
  const auto any_ends = [&](std::string_view words_before) {
    return std::any_of(words.begin(), words.end(), [&](const auto& word) { return ends_with_word(words_before, word); });
  };
  const auto last = up_to_last_letter(folded);
  if (any_ends(last)) return true;
  constexpr std::size_t kCurrencyCode = 3;
  const auto blank = last.rfind(' ');
  return blank != std::string_view::npos && last.size() - blank - 1 == kCurrencyCode && any_ends(up_to_last_letter(last.substr(0, blank)));
}

}  // namespace runwarden::plugins
