#include "evidence/outcome_words.h"

#include "text/ascii.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

/// True for a code with one of the words at one of its ends.
bool ends_in(std::string_view code, const std::vector<std::string>& words) {
  constexpr std::string_view kBetween = "_- ";
  return among(code, words) || among(code.substr(0, code.find_first_of(kBetween)), words) ||
         among(code.substr(code.find_last_of(kBetween) + 1), words);
}

}  // namespace

OutcomeWords::OutcomeWords(const Vocabulary& vocabulary)
    : members(vocabulary.words(Key::kOutcomeMembers)),
      failures(vocabulary.words(Key::kFailedStatuses)),
      refusing(vocabulary.words(Key::kRefusingWords)),
      good(vocabulary.words(Key::kGoodStatuses)),
      waiting(vocabulary.words(Key::kWaitingStatuses)),
      errors(vocabulary.words(Key::kErrorOpenings)),
      error_members(vocabulary.words(Key::kErrorMembers)),
      taken(vocabulary.words(Key::kTakenMembers)),
      counts(vocabulary.words(Key::kCountMembers)),
      status_codes(vocabulary.words(Key::kStatusCodeMembers)),
      codes(vocabulary.words(Key::kCodeMembers)),
      explaining(vocabulary.words(Key::kExplainingMembers)),
      reasons(vocabulary.words(Key::kReasonMembers)),
      asked(vocabulary.words(Key::kAskedMembers)),
      untroubled(vocabulary.words(Key::kUntroubledTexts)),
      content(vocabulary.words(Key::kContentMembers)),
      former(vocabulary.words(Key::kFormerWords)),
      contradicted(vocabulary.words(Key::kContradictedDeeds)),
      moving(vocabulary.words(Key::kMovingMembers)),
      denying(vocabulary.words(Key::kDenyingPrefixes)),
      opposites(vocabulary.words(Key::kOppositePrefixes)),
      done_endings(vocabulary.words(Key::kDoneEndings)),
      error_numbers(vocabulary.words(Key::kErrorNumberPrefixes)),
      devices(vocabulary.words(Key::kDeviceMembers)) {}

std::string_view last_word_of(std::string_view key) {
  auto begin = key.size();
  while (begin > 0 && key[begin - 1] != '_' && !is_upper(key[begin - 1])) --begin;
  const bool hump = begin > 1 && begin < key.size() && is_upper(key[begin - 1]) && is_lower(key[begin - 2]);
  if (hump) return key.substr(begin - 1);
  const auto sign = key.rfind('_');
  return sign == std::string_view::npos ? key : key.substr(sign + 1);
}

bool holds_content(std::string_view key, const OutcomeWords& words) {
  std::string name;
  fold(key, name);
  const auto was_before = [&](const std::string& word) { return name.starts_with(word); };
  return std::any_of(words.former.begin(), words.former.end(), was_before) || among(last_word_of(name), words.content);
}

bool tells_failure(std::string_view outcome, const OutcomeWords& words) {
  return ends_in(outcome, words.failures);
}

bool refuses(std::string_view outcome, const OutcomeWords& words) {
  return ends_in(outcome, words.refusing);
}

}  // namespace runwarden::plugins
