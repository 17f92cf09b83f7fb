#include "missing_tool_call/call_words.h"

#include <algorithm>
#include <utility>

#include "common/json_scan.h"
#include "common/tools.h"
#include "common/words.h"
#include "evidence/clauses.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kMostThings = 256;  // of a run: with more, every thing may be one of them

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
    if (i == claim.word || small || word.text.size() < kTelling) continue;
    if (scene_.calls.holds_word(word.text) || scene_.calls.holds_word(std::string(word.text) + 's')) return true;
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
    add_told(step.output);
  }
  scene_.changes_read = true;
}

/// Adds the words of what a call returned, without the names of members that hold nothing: {"bags": 0, "seats": []} tells of neither.
void CallWords::add_told(std::string_view output) {
  using Token = JsonScanner::Token;
  JsonScanner cursor(output);
  // Of the lists and objects that are open and have shown nothing so far; the last is that of the member.
  std::vector<std::string_view> names{{}};
  auto token = looks_like_json(output) ? cursor.next() : Token::kBad;
  for (; token != Token::kEnd && token != Token::kBad; token = cursor.next()) {
    if (token == Token::kKey) {
      names.back() = cursor.text();
      continue;
    }
    if (token == Token::kArray || token == Token::kObject) {
      names.emplace_back();
      continue;
    }
    if (token == Token::kArrayEnd || token == Token::kObjectEnd) {
      if (names.size() > 1) names.pop_back();
      names.back() = {};
      continue;
    }
    const bool valued = token == Token::kNumber || token == Token::kString;
    const bool blank = token == Token::kNull || token == Token::kFalse || (valued && (cursor.text().empty() || cursor.text() == "0"));
    for (auto name = names.rbegin(); !blank && name != names.rend(); ++name) scene_.changes.add_words(std::exchange(*name, {}));
    if (valued) scene_.changes.add_words(cursor.text());
  }
  if (token == Token::kBad) scene_.changes.add_words(output);
}

/// Reads the names of the calls that may have changed something, once per run.
void CallWords::read_things(const RunView& run) {
  if (scene_.things_read) return;
  scene_.things_read = true;
  scene_.changed_things.clear();
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    if (scene_.ran.may_change[i] == 0) continue;
    run.pace(run.steps[i].input.size());
    add_things(run.steps[i]);
  }
}

/// Adds the words in the names of a call and of its arguments.
void CallWords::add_things(const StepView& call) {
  const auto add_words = [&](std::string_view name) {
    std::vector<std::string> words;
    split_tool_name(name, words);
    scene_.changed_things.insert(words.begin(), words.end());
  };
  if (scene_.changed_things.size() > kMostThings) return;
  add_words(base_name(call.name));
  std::vector<CallValue> values;
  collect_values(call.input, rules_.tool_words.calls, values);
  for (const auto& value : values) {
    if (scene_.changed_things.size() > kMostThings) return;
    add_words(value.key);
  }
}

bool CallWords::names_thing(const RunView& run, const Claim& claim) {
  constexpr std::uint32_t kReach = 8;
  constexpr std::size_t kTelling = 3;
  read_things(run);
  if (scene_.changed_things.size() > kMostThings) return true;
  const auto& words = scene_.reading.words;
  const auto& sentence = scene_.reading.sentences[claim.sentence];
  const auto named = [&](const ReadWord& word) {
    auto thing = word.text;
    if (thing.ends_with('s')) thing.remove_suffix(1);
    if (thing.size() < kTelling || has(word.cues, kCueAuxiliary | kCueAdverb | kCueDeterminer | kCuePreposition)) return false;
    return std::any_of(scene_.changed_things.begin(), scene_.changed_things.end(), [&](std::string_view name) {
      return name.size() >= kTelling && (name.starts_with(thing) || thing.starts_with(name));
    });
  };
  // The object is behind "I've added", the subject before "has been added".
  if (claim.by_agent || (claim.word > sentence.begin && has(words[claim.word - 1].cues, kCueConjunction))) {
    const auto end = std::min(sentence.end, claim.word + 1 + kReach);
    for (auto i = claim.word + 1; i < end && words[i].before < Break::kClause && !has(words[i].cues, kCueConjunction); ++i) {
      if (named(words[i])) return true;
    }
    return false;
  }
  // What stands in brackets parts the subject from its verb: "ticket 88 (printer) has been closed".
  for (auto i = claim.word; i > sentence.begin && claim.word - i < kReach; --i) {
    if (has(words[i - 1].cues, kCueConjunction)) break;
    if (named(words[i - 1])) return true;
  }
  return false;
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

/// True for a word behind a conjunction that joins the claim to one before it: "the cabin has been upgraded, and three bags have been
/// added".
bool CallWords::begins_after_claim(const Claim& claim, std::uint32_t word) const {
  if (!has(scene_.reading.words[word - 1].cues, kCueConjunction)) return false;
  const auto* deed = claim_before(scene_.reading, scene_.reading.sentences[claim.sentence], word - 1);
  return deed != nullptr && deed->verb != kNoVerb;
}

bool CallWords::is_about_changed(const RunView& run, const Claim& claim) {
  constexpr std::uint32_t kReach = 8;
  read_changes(run);
  const auto& sentence = scene_.reading.sentences[claim.sentence];
  if (quotes_id(sentence)) return true;
  auto begin = claim.word;
  // "I've updated ticket 5 and emailed the customer": the ticket belongs to the verb before.
  const bool joined = claim.word > sentence.begin && has(scene_.reading.words[claim.word - 1].cues, kCueConjunction);
  while (!joined && begin > sentence.begin && claim.word - begin < kReach && scene_.reading.words[begin].before < Break::kClause &&
         !begins_after_claim(claim, begin))
    --begin;
  const auto end = std::min(sentence.end, claim.word + 1 + kReach);
  bool told = false;
  for (auto i = begin; i < end; ++i) {
    const auto& word = scene_.reading.words[i];
    if (i > claim.word && (word.before >= Break::kClause || has(word.cues, kCueConjunction))) break;
    if (i == claim.word || !is_telling(word)) continue;
    told = true;
    if (scene_.changes.holds_word(word.text)) return true;
  }
  return !told;
}

bool CallWords::is_changed(const RunView& run, const ReadWord& word) {
  read_changes(run);
  return scene_.changes.holds_word(word.text);
}

bool CallWords::shares_changed(const RunView& run, const Sentence& sentence) {
  return std::any_of(scene_.reading.words.begin() + sentence.begin, scene_.reading.words.begin() + sentence.end,
                     [&](const ReadWord& word) { return is_telling(word) && is_changed(run, word); });
}

}  // namespace runwarden::plugins
