#include "missing_tool_call/call_words.h"

#include <algorithm>

#include "common/words.h"

namespace runwarden::plugins {
namespace {

const char* end_of(std::string_view text) {
  return text.data() + text.size();
}

}  // namespace

bool CallWords::returned_word(const RunView& run, const Claim& claim) {
  if (!scene_.outputs_read) {
    scene_.outputs.clear();
    scene_.written.clear();
    for (std::size_t i = 0; i < run.steps.size(); ++i) {
      const auto& step = run.steps[i];
      if (step.kind != Kind::kTool) continue;
      run.pace(step.output.size());
      scene_.outputs.add_words(step.output);
      if (step.outcome != Outcome::kFailed && scene_.ran.may_change[i] != 0) scene_.written.add_spelled(step.output);
    }
    scene_.outputs_read = true;
  }
  return scene_.outputs.holds_word(scene_.reading.words[claim.word].text);
}

bool CallWords::reported_state(const RunView& run, const Claim& claim) {
  return (!claim.result && returned_word(run, claim)) || quotes_id(scene_.reading.sentences[claim.sentence]);
}

/// True when the sentence quotes an id from scene_.written. An id has letters and digits: plain numbers occur in too many outputs.
bool CallWords::quotes_id(const Sentence& sentence) const {
  for (auto i = sentence.begin; i < sentence.end; ++i) {
    // A reading splits "r-19" into two words.
    const auto& word = scene_.reading.words[i].text;
    const auto begin = i > sentence.begin && word.data() == end_of(scene_.reading.words[i - 1].text) + 1 && word.data()[-1] == '-'
                           ? scene_.reading.words[i - 1].text.data()
                           : word.data();
    const std::string_view id(begin, static_cast<std::size_t>(end_of(word) - begin));
    const auto digit = std::any_of(id.begin(), id.end(), is_digit);
    const auto letter = std::any_of(id.begin(), id.end(), is_lower);
    if (digit && letter && id.size() > 3 && scene_.written.holds_word(id)) return true;
  }
  return false;
}

bool CallWords::about_calls(const RunView& run, const Claim& claim) {
  constexpr std::size_t kTelling = 4;
  if (!scene_.calls_read) {
    scene_.calls.clear();
    for (const auto& step : run.steps) {
      if (step.kind != Kind::kTool) continue;
      run.pace(step.input.size() + step.output.size());
      scene_.calls.add_words(step.input);
      scene_.calls.add_words(step.output);
    }
    scene_.calls_read = true;
  }
  constexpr std::uint32_t kReach = 16;
  const auto& sentence = scene_.reading.sentences[claim.sentence];
  const auto begin = claim.word - std::min(claim.word - sentence.begin, kReach);
  const auto end = std::min(sentence.end, claim.word + 1 + kReach);
  for (auto i = begin; i < end; ++i) {
    const auto& word = scene_.reading.words[i];
    const bool small = word.entry != nullptr && word.entry->cues != 0;
    if (i != claim.word && !small && word.text.size() >= kTelling && scene_.calls.holds_word(word.text)) return true;
  }
  return false;
}

bool CallWords::concerns(const RunView& run, const Claim& claim) {
  if (is_about_changed(run, claim)) return true;
  return scene_.changes.holds_word(rules_.lexicon.verb(claim.verb).lemma) ||
         (!claim.result && scene_.changes.holds_word(scene_.reading.words[claim.word].text));
}

/// Reads the words of the calls that may have changed something, once per run.
void CallWords::read_changes(const RunView& run) {
  if (scene_.changes_read) return;
  scene_.changes.clear();
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    if (scene_.ran.may_change[i] == 0) continue;
    const auto& step = run.steps[i];
    run.pace(step.input.size() + step.output.size());
    scene_.changes.add_words(step.name);
    scene_.changes.add_words(step.input);
    scene_.changes.add_words(step.output);
  }
  scene_.changes_read = true;
}

bool CallWords::names_made(const RunView& run, const Claim& claim) {
  constexpr std::uint32_t kReach = 6;
  constexpr std::size_t kTelling = 4;
  constexpr int kEnough = 2;
  if (!scene_.ran.any_write || claim.by_agent) return false;
  read_changes(run);
  const auto& sentence = scene_.reading.sentences[claim.sentence];
  int named = 0;
  for (auto i = claim.word; i > sentence.begin && claim.word - i < kReach && scene_.reading.words[i].before < Break::kClause; --i) {
    const auto& word = scene_.reading.words[i - 1];
    if (word.text.size() >= kTelling && !has(word.cues, kCueAuxiliary | kCueAdverb) && scene_.changes.holds_word(word.text)) ++named;
  }
  return named >= kEnough;
}

bool CallWords::is_about_changed(const RunView& run, const Claim& claim) {
  constexpr std::uint32_t kReach = 8;
  constexpr std::size_t kTelling = 4;
  read_changes(run);
  const auto& sentence = scene_.reading.sentences[claim.sentence];
  if (quotes_id(sentence)) return true;
  auto begin = claim.word;
  // "I've updated ticket 5 and emailed the customer": the ticket belongs to the verb before.
  const bool joined = claim.word > sentence.begin && has(scene_.reading.words[claim.word - 1].cues, kCueConjunction);
  while (!joined && begin > sentence.begin && claim.word - begin < kReach && scene_.reading.words[begin].before < Break::kClause) --begin;
  const auto end = std::min(sentence.end, claim.word + 1 + kReach);
  bool told = false;
  for (auto i = begin; i < end; ++i) {
    const auto& word = scene_.reading.words[i];
    if (i > claim.word && (word.before >= Break::kClause || has(word.cues, kCueConjunction))) break;
    const bool small =
        word.entry != nullptr && (word.entry->verb == kNoVerb || (word.entry->forms & kFormBase) == 0) && word.entry->cues != 0;
    const bool number = word.text.size() > 1 && std::all_of(word.text.begin(), word.text.end(), is_digit);
    if (i == claim.word || small || (word.text.size() < kTelling && !number)) continue;
    told = true;
    if (scene_.changes.holds_word(word.text)) return true;
  }
  return !told;
}

}  // namespace runwarden::plugins
