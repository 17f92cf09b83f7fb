#include "missing_tool_call/told_deeds.h"

#include <algorithm>

#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

/// "You're all set to send it".
bool tells_what_comes(const Reading& reading, const Claim& claim) {
  constexpr std::uint32_t kReach = 2;
  const auto end = std::min(reading.sentences[claim.sentence].end, claim.word + 1 + kReach);
  return std::any_of(reading.words.begin() + claim.word + 1, reading.words.begin() + end,
                     [](const ReadWord& word) { return has(word.cues, kCueInfinitive); });
}

/// True when the part of the sentence with the claim is negated, conditional or about the future.
bool is_denied(const Reading& reading, const Claim& claim) {
  constexpr std::uint32_t kReach = 25;
  const auto& sentence = reading.sentences[claim.sentence];
  const auto governs = [&](const ReadWord& word) {
    return negates(reading, word) || has(word.cues, kCueModal | kCueCondition | kCueAlready);
  };
  for (auto i = claim.word; i > sentence.begin && claim.word - i < kReach && reading.words[i].before < Break::kClause; --i) {
    if (governs(reading.words[i - 1])) return true;
  }
  for (auto i = claim.word + 1; i < sentence.end && i - claim.word < kReach && reading.words[i].before == Break::kNone; ++i) {
    if (has(reading.words[i].cues, kCueConjunction)) break;
    if (negates(reading, reading.words[i])) return true;
  }
  return false;
}

/// True for "successfully" in "I have successfully read the files": it says how something went, known or not.
bool says_how(const Reading& reading, const Claim& claim) {
  return claim.verb == kNoVerb && has(reading.words[claim.word].cues, kCueAdverb);
}

/// "I've updated the ticket and emailed the customer": the claim before it, whose subject and auxiliary it shares. `at` is an index into
/// the claims. nullptr for none.
const Claim* joined_to(const Reading& reading, std::size_t at) {
  const auto& claim = reading.claims[at];
  auto i = claim.word;
  const auto begin = reading.sentences[claim.sentence].begin;
  while (i > begin && has(reading.words[i - 1].cues, kCueAdverb)) --i;
  if (at == 0 || i == begin || !has(reading.words[i - 1].cues, kCueConjunction) || has(reading.words[i - 1].cues, kCueAsking))
    return nullptr;
  const auto& before = reading.claims[at - 1];
  if (before.sentence != claim.sentence || before.finding || before.in_progress || before.state) return nullptr;
  const auto apart = [](const ReadWord& word) { return word.before >= Break::kClause; };
  return std::none_of(reading.words.begin() + before.word + 1, reading.words.begin() + claim.word + 1, apart) ? &before : nullptr;
}

/// "I've gone ahead and restarted it": behind a conjunction, with the agent as the subject of the clause.
bool goes_on_of_agent(const Reading& reading, const Claim& claim) {
  constexpr std::uint32_t kReach = 8;
  const auto begin = reading.sentences[claim.sentence].begin;
  if (claim.word == begin || !has(reading.words[claim.word - 1].cues, kCueConjunction)) return false;
  for (auto i = claim.word - 1; i > begin && claim.word - i < kReach && reading.words[i].before == Break::kNone; --i) {
    const auto& word = reading.words[i - 1];
    if (negates(reading, word) || has(word.cues, kCueModal | kCueOther | kCueDeterminer | kCueRelative)) return false;
    if (has(word.cues, kCueSelf)) return has(word.cues | reading.words[i].cues, kCueAuxiliary);
  }
  return false;
}

/// "Is now noted", "queda anotada": a deed has brought about the state.
bool has_begun_now(const Reading& reading, const Claim& claim) {
  constexpr std::uint32_t kReach = 2;
  const auto begin = std::max(reading.sentences[claim.sentence].begin, claim.word - std::min(claim.word, kReach));
  return std::any_of(reading.words.begin() + begin, reading.words.begin() + claim.word,
                     [](const ReadWord& word) { return has(word.cues, kCueNow); });
}

/// True when the part of the sentence before a verb denies it. A base form needs a denial of the past right before it: "I did not cancel
/// it", but not "I cannot cancel it".
bool is_denied_before(const Reading& reading, const Sentence& sentence, std::uint32_t verb) {
  const bool done = (reading.words[verb].entry->forms & kFormDone) != 0;
  bool negated = false, adjacent = true;
  for (auto i = verb; i > sentence.begin && reading.words[i].before == Break::kNone; --i) {
    const auto& word = reading.words[i - 1];
    if (has(word.cues, kCueModal | kCueCondition | kCueHypothesis)) return false;
    negated |= (done || (adjacent && has(word.cues, kCueTrouble))) && negates(reading, word);
    adjacent &= has(word.cues, kCueAdverb) || ends_like(word.text, reading.lexicon->adverb_endings);
  }
  return negated && (done || has(sentence.cues, kCueSelf));
}

}  // namespace

bool is_deed(const Reading& reading, const Claim& claim) {
  if (claim.by_agent) return true;
  const auto begin = reading.sentences[claim.sentence].begin;
  for (auto i = claim.word; i > begin && reading.words[i].before == Break::kNone; --i) {
    const auto cues = reading.words[i - 1].cues;
    if (has(cues, kCuePassive)) return true;
    // "Se ha ampliado" is a passive: somebody did it.
    const bool impersonal = i - 1 > begin && among(reading.words[i - 2].text, reading.lexicon->impersonals);
    if (!has(cues, kCueAdverb)) return impersonal || !has(cues, kCueAuxiliary);
  }
  return true;
}

bool holds_letter(std::string_view text) {
  constexpr std::size_t kLongestLine = 60;
  constexpr int kMostWords = 5;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = trim(text.substr(at, end - at));
    at = end + 1;
    if (line.size() > kLongestLine || !line.ends_with(',')) continue;
    int words = 0;
    for_each_word(line, [&](std::string_view) { return ++words <= kMostWords; });
    if (words <= kMostWords) return true;
  }
  return false;
}

bool tells_of_before(const Reading& reading, const Claim& claim) {
  constexpr std::uint32_t kReach = 3;
  if (claim.by_agent) return false;
  const auto& sentence = reading.sentences[claim.sentence];
  bool past = false;
  for (auto i = claim.word; i > sentence.begin && claim.word - i < kReach; --i) {
    const auto cues = reading.words[i - 1].cues;
    if (has(cues, kCueAlready)) return true;
    past |= has(cues, kCuePastPassive);
  }
  const auto end = std::min(sentence.end, claim.word + 2 + kReach);
  const auto already = [](const ReadWord& word) { return has(word.cues, kCueAlready); };
  // "ist bereits seit dem 03.05.2025 hinterlegt"
  const auto claimed = reading.words.begin() + claim.word;
  const auto is_date = [](const ReadWord& word) {
    return is_digit(word.text[0]) && std::count_if(word.text.begin(), word.text.end(), [](char c) { return c == '.' || c == '-'; }) == 2;
  };
  if (std::any_of(std::find_if(reading.words.begin() + sentence.begin, claimed, already), claimed, is_date)) return true;
  if (past && std::any_of(reading.words.begin() + sentence.begin, reading.words.begin() + claim.word, already)) return true;
  if (!past || claim.word + 1 >= end || !has(reading.words[claim.word + 1].cues, kCuePreposition)) return false;
  return std::any_of(reading.words.begin() + claim.word + 2, reading.words.begin() + end,
                     [](const ReadWord& word) { return is_digit(word.text[0]); });
}

bool plainly_done(const Reading& reading, const Claim& claim) {
  constexpr std::uint32_t kNoteWords = 3;
  if (claim.by_agent) return true;
  if (!tells_deed(reading, claim)) return false;
  const auto& sentence = reading.sentences[claim.sentence];
  const auto next = claim.word + 1;
  if (next >= sentence.end || reading.words[next].before != Break::kNone || has_auxiliary(reading, claim)) return true;
  if (claim.word - sentence.begin > kNoteWords || has(reading.words[sentence.begin].cues, kCueDeterminer)) return false;
  return std::all_of(reading.words.begin() + sentence.begin + 1, reading.words.begin() + claim.word + 1,
                     [](const ReadWord& word) { return word.before == Break::kNone; });
}

bool asks_at_end(const Reading& reading) {
  constexpr std::size_t kEnd = 3;
  const auto& sentences = reading.sentences;
  const auto begin = sentences.end() - static_cast<std::ptrdiff_t>(std::min(kEnd, sentences.size()));
  return std::any_of(begin, sentences.end(),
                     [](const Sentence& sentence) { return sentence.question && !has(sentence.cues, kCueOffer | kCueClosingQuestion); });
}

bool says_not_done(const Reading& reading, std::uint16_t group) {
  return std::any_of(reading.sentences.begin(), reading.sentences.end(), [&](const Sentence& sentence) {
    for (auto i = sentence.begin; i < sentence.end && !sentence.question; ++i) {
      const auto* entry = reading.words[i].entry;
      if (entry == nullptr || entry->verb == kNoVerb || reading.lexicon->verb(entry->verb).group != group) continue;
      if (is_denied_before(reading, sentence, i)) return true;
    }
    return false;
  });
}

void collect_deeds(const Reading& reading, const std::function<bool(std::uint16_t)>& acts,
                   const std::function<bool(std::uint16_t)>& finishes, std::vector<ToldDeed>& out) {
  out.clear();
  for (std::size_t i = 0; i < reading.claims.size(); ++i) {
    const auto& claim = reading.claims[i];
    if (claim.finding || reading.sentences[claim.sentence].question || says_how(reading, claim)) continue;
    const bool general = claim.verb == kNoVerb || finishes(claim.verb);
    if (!general && !acts(claim.verb)) continue;
    // "To complete your booking" is still to be done.
    const bool infinitive = claim.word > reading.sentences[claim.sentence].begin && has(reading.words[claim.word - 1].cues, kCueInfinitive);
    if (infinitive) continue;
    if (tells_of_before(reading, claim) ||
        ((general || has(reading.words[claim.word].cues, kCueFinished)) && tells_what_comes(reading, claim)) || is_denied(reading, claim))
      continue;
    if (!general && !is_deed(reading, claim)) continue;
    auto telling = Telling::kGeneral;
    if (!general) {
      if (claim.in_progress)
        telling = Telling::kUnderWay;
      else if (claim.by_agent)
        telling = Telling::kByAgent;
      else if (claim.state)
        telling = has_begun_now(reading, claim) ? Telling::kPassive : Telling::kState;
      else if (has_auxiliary(reading, claim))
        telling = Telling::kPassive;
      else if (const auto* before = joined_to(reading, i); (before != nullptr && before->by_agent) || goes_on_of_agent(reading, claim))
        telling = Telling::kByAgent;
      else if (tells_deed(reading, claim))
        telling = Telling::kNote;
      else
        continue;
    }
    out.push_back({claim, telling});
  }
  for (const auto& result : reading.results) {
    if (acts(result.verb) && !tells_of_before(reading, result) && !is_denied(reading, result)) out.push_back({result, Telling::kResult});
  }
}

}  // namespace runwarden::plugins
