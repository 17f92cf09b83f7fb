#include "evidence/trouble.h"

#include <algorithm>

#include "common/json_scan.h"
#include "evidence/sentences.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kLongestReport = 1024;  // bytes of an output that tells how its call went
constexpr std::size_t kTellingName = 5;  // bytes of a file name without its folder
constexpr std::uint64_t kTroubleCues = kCueTrouble | kCueNothingFound | kCueAdmission;

bool is_deed(const Claim& claim) {
  return !claim.finding && claim.verb != kNoVerb;
}

}  // namespace

bool tells_trouble_with(std::string_view message, const std::vector<std::string_view>& things, const Lexicon& lexicon, Reading& scratch) {
  if (things.empty()) return false;
  bool told = false;
  std::string buffer;
  for_each_sentence(told_of(message, buffer), lexicon.abbreviations, [&](std::string_view sentence) {
    const auto named = [&](std::string_view thing) {
      const auto base = thing.substr(thing.find_last_of('/') + 1);  // the whole name when it has no folder
      return sentence.find(thing) != std::string_view::npos ||
             (base.size() >= kTellingName && sentence.find(base) != std::string_view::npos);
    };
    if (told || std::none_of(things.begin(), things.end(), named)) return;
    read(sentence, lexicon, scratch);
    const auto denied = [&](const ReadWord& word) { return negates(scratch, word); };
    const bool trouble = has(scratch.cues, kTroubleCues) || std::any_of(scratch.words.begin(), scratch.words.end(), denied);
    told = scratch.claims.empty() && trouble && !has(scratch.cues, kCueHypothesis);
  });
  return told;
}

bool tells_what_failure_says(const Reading& message, const Reading& failure, const Lexicon& lexicon) {
  const auto group = [&](const Claim& claim) { return lexicon.verb(claim.verb).group; };
  if (message.claims.empty()) return false;
  const bool both_already = has(message.cues, kCueAlready) && has(failure.cues, kCueAlready);
  return std::all_of(message.claims.begin(), message.claims.end(), [&](const Claim& told) {
    if (told.finding || told.by_agent || told.in_progress) return false;
    if (both_already) return true;
    if (told.verb == kNoVerb) return !failure.claims.empty() && (has(failure.cues, kCueAlready) || !has(failure.cues, kCueTrouble));
    // "It has already been voided", and the failure says: has status 'voided'.
    const bool already = has(message.sentences[told.sentence].cues, kCueAlready);
    if (already && std::any_of(failure.words.begin(), failure.words.end(), [&](const ReadWord& word) {
          return is_participle(word.entry) && lexicon.verb(word.entry->verb).group == group(told);
        }))
      return true;
    return std::any_of(failure.claims.begin(), failure.claims.end(),
                       [&](const Claim& said) { return is_deed(said) && group(said) == group(told); });
  });
}

bool prints_no_trouble(std::string_view output, const std::vector<std::string>& signs, const Lexicon& lexicon, Reading& scratch) {
  if (trim(output).empty()) return false;
  read(output, lexicon, scratch);
  if (has(scratch.cues, kTroubleCues | kCueNegation)) return false;
  return std::none_of(scratch.words.begin(), scratch.words.end(), [&](const ReadWord& word) {
    return std::any_of(signs.begin(), signs.end(), [&](const std::string& sign) { return word.text.ends_with(sign); });
  });
}

std::string_view without_content(std::string_view output, const OutcomeWords& words, std::string& buffer) {
  if (output.size() > kLongestReport) return output;
  buffer.assign(output);
  const auto blank = [&](std::size_t begin, std::size_t size) { buffer.replace(begin, size, size, ' '); };
  if (!looks_like_json(output)) {
    for (auto open = output.find('"'); open != std::string_view::npos;) {
      const auto close = output.find('"', open + 1);
      if (close == std::string_view::npos) break;
      blank(open, close + 1 - open);
      open = output.find('"', close + 1);
    }
    return buffer;
  }
  using Token = JsonScanner::Token;
  JsonScanner cursor(output);
  std::string key;
  bool content = false, status = false;  // of the last member's name
  for (auto token = cursor.next(); token != Token::kEnd; token = cursor.next()) {
    if (token == Token::kBad) return output;
    if (token == Token::kKey) {
      fold(cursor.text(), key);
      content = holds_content(key, words);
      status = among(last_word_of(key), words.members) || among(key, words.status_codes);
    } else if (token == Token::kNumber && status) {
      return output;  // of a problem with an HTTP status, the title explains it
    } else if (token == Token::kString && content) {
      blank(static_cast<std::size_t>(cursor.text().data() - output.data()), cursor.text().size());
    }
  }
  return buffer;
}

bool speaks_of_trouble(std::string_view output, const Lexicon& lexicon, Reading& scratch) {
  constexpr std::size_t kShort = 600;
  constexpr std::size_t kVeryShort = 200;  // in which any "not" counts
  constexpr std::size_t kLabelled = 3;     // words of an empty value and its label
  if (output.empty() || output.size() > kShort) return false;
  read(output, lexicon, scratch);
  if (scratch.words.empty()) return false;
  // "<<None>>" and "Out: None" are what tools that only act give back.
  const auto negation = [](const ReadWord& word) { return has(word.cues, kCueNegation); };
  const bool gave_none = scratch.words.size() <= kLabelled && has(scratch.words.back().cues, kCueEmptyWord) &&
                         std::none_of(scratch.words.begin(), scratch.words.end() - 1, negation);
  const bool denies = !gave_none && output.size() <= kVeryShort && has(scratch.cues, kCueNegation);
  return scratch.denies || has(scratch.cues, kTroubleCues) || denies;
}

bool names_trouble_of(std::string_view folded, const Reading& text) {
  constexpr int kMost = 16;
  const auto names = [&](std::string_view word) {
    auto at = folded.find(word);
    const auto inside = [&] {
      return (at > 0 && is_word_byte(folded[at - 1])) || (at + word.size() < folded.size() && is_word_byte(folded[at + word.size()]));
    };
    while (at != std::string_view::npos && inside()) at = folded.find(word, at + 1);
    return at != std::string_view::npos;
  };
  int words = 0;
  for (const auto& word : text.words) {
    if (!has(word.cues, kTroubleCues | kCueNegation)) continue;
    if (++words > kMost || !names(word.text)) return false;
  }
  return words > 0;
}

bool broken_off(std::string_view output) {
  return trim(output).ends_with("KeyboardInterrupt") || output.find("\nKeyboardInterrupt") != std::string_view::npos;
}

}  // namespace runwarden::plugins
