#include "evidence/disclaimers.h"

#include <algorithm>

#include "common/words.h"
#include "evidence/sentences.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kRoughReach = 40;  // bytes before the figure
constexpr std::size_t kGuessReach = 80;  // the same for a guess

bool ends_with_word(std::string_view text, std::string_view word) {
  return text.ends_with(word) && (text.size() == word.size() || !is_letter_or_digit(text[text.size() - word.size() - 1]));
}

std::string_view final_word(std::string_view phrase) {
  return phrase.substr(phrase.rfind(' ') + 1);
}

std::string_view up_to_last_letter(std::string_view text) {
  while (!text.empty() && !is_letter_or_digit(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

Disclaimers::Disclaimers(const Vocabulary& vocabulary)
    : approximations_(vocabulary.words(Key::kApproximations)),
      guesses_(vocabulary.words(Key::kGuesses)),
      own_knowledge_(vocabulary.words(Key::kOwnKnowledge)),
      sources_(vocabulary.words(Key::kKnowledgeSources)) {
  for (const auto& phrase : own_knowledge_) telling_words_.add(longest_word(phrase));
}

bool Disclaimers::told_roughly(std::string_view text, std::string_view figure) const {
  const auto at = static_cast<std::size_t>(figure.data() - text.data());
  const auto begin = at - std::min(at, kRoughReach);
  auto before = text.substr(begin, at - begin);
  before.remove_prefix(std::min(before.find_last_of(".;:!?\n") + 1, before.size()));
  if (before.ends_with('~') || before.ends_with("~$") || before.ends_with("\u2248")) return true;
  std::string folded;
  fold(before, folded);
  const auto any_ends = [&](std::string_view words_before) {
    return std::any_of(approximations_.begin(), approximations_.end(),
                       [&](const auto& word) { return ends_with_word(words_before, word); });
  };
  const auto last = up_to_last_letter(folded);
  if (any_ends(last)) return true;
  constexpr std::size_t kCurrencyCode = 3;
  const auto blank = last.rfind(' ');
  return blank != std::string_view::npos && last.size() - blank - 1 == kCurrencyCode && any_ends(up_to_last_letter(last.substr(0, blank)));
}

bool Disclaimers::declared_as_guess(std::string_view text, std::string_view figure, const Abbreviations& abbreviations) const {
  const auto at = static_cast<std::size_t>(figure.data() - text.data());
  const auto begin = begin_of_sentence(text, at, kGuessReach, abbreviations);
  std::string folded;
  fold(text.substr(begin, at - begin), folded);
  return std::any_of(guesses_.begin(), guesses_.end(), [&](const std::string& phrase) {
    const auto found = folded.find(phrase);
    if (found == std::string::npos) return false;
    const auto end = found + phrase.size();
    return (found == 0 || !is_letter_or_digit(folded[found - 1])) && (end == folded.size() || !is_letter_or_digit(folded[end]));
  });
}

bool Disclaimers::draws_on_own_knowledge(std::string_view message) {
  if (!telling_words_.finds(message)) return false;
  fold(message, folded_);
  const std::string_view text = folded_;
  return std::any_of(own_knowledge_.begin(), own_knowledge_.end(), [&](const std::string& phrase) {
    for (auto at = text.find(phrase); at != std::string_view::npos; at = text.find(phrase, at + 1)) {
      const auto end = at + phrase.size();
      const bool whole = (at == 0 || !is_letter_or_digit(text[at - 1])) && (end == text.size() || !is_letter_or_digit(text[end]));
      const auto last = text.substr(end - final_word(phrase).size());
      const bool source = std::any_of(sources_.begin(), sources_.end(), [&](const auto& name) { return last.starts_with(name); });
      if (whole && !source) return true;
    }
    return false;
  });
}

}  // namespace runwarden::plugins
