#include "schema_ghost/found_things.h"

#include <algorithm>

#include "common/findings.h"
#include "common/recovery.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr double kNotShown = 0.7;

bool is_number(std::string_view word) {
  constexpr std::size_t kDigits = 3;
  return !word.empty() && word.size() <= kDigits && std::all_of(word.begin(), word.end(), is_digit);
}

/// True for a text with a short number behind a word: "pan (1)", "pan 1". A quick look at each digit.
bool has_numbered_word(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (!is_digit(text[i]) || is_digit(text[i - 1])) continue;
    const auto word = text.substr(0, i).find_last_not_of(" (");
    const auto end = std::min(text.find_first_not_of("0123456789", i), text.size());
    if (word != std::string_view::npos && word + 1 < i && is_letter(text[word]) && is_number(text.substr(i, end - i))) return true;
  }
  return false;
}

}  // namespace

FoundThings::FoundThings(const GhostRules& rules, GhostScene& scene, Grounding& grounds) : rules_(rules), scene_(scene), grounds_(grounds) {
  for (const auto& entry : rules.lexicon.words()) {
    if (finds(entry)) finding_words_.add(entry.word);
  }
}

bool FoundThings::finds(const WordEntry& word) const {
  return word.verb != kNoVerb && rules_.lexicon.verb(word.verb).group == rules_.find_group;
}

/// Adds the words of a text, or only those with a number behind them.
void FoundThings::show(std::string_view text, bool numbered_only) {
  fold(text, folded_);
  WordCursor cursor(folded_);
  std::string_view before;
  for (RawWord word; cursor.next(word); before = word.text) {
    if (!numbered_only) shown_.insert(hash_noun(word.text));
    if (numbered_only && is_number(word.text) && !before.empty()) shown_.insert(hash_noun(before));
  }
}

/// "On the shelf 1, you see nothing.": a short output that says that there is nothing, or that nothing came of the call.
bool FoundThings::shows_nothing(const StepView& step) {
  constexpr std::size_t kLongest = 120;
  if (step.output.empty() || step.output.size() > kLongest) return false;
  read(step.output, rules_.lexicon, scene_.reading);
  return negates_anything(scene_.reading) || has(scene_.reading.cues, kCueNothingFound | kCueEmptyWord);
}

/// The numbered thing that a sentence of the message says was found, as a fact, and that nothing has shown; empty for none.
std::string_view FoundThings::thing_not_shown(std::string_view message) {
  constexpr std::uint64_t kOpen = kCueCondition | kCueModal | kCueHypothesis | kCueOffer | kCuePlan | kCueInfinitive;
  constexpr std::uint32_t kSubject = 3, kReach = 4, kShortest = 3;  // words; bytes of a thing
  read(message, rules_.lexicon, scene_.reading);
  const auto& words = scene_.reading.words;
  for (const auto& sentence : scene_.reading.sentences) {
    if (sentence.question || negates_anything(scene_.reading, sentence)) continue;
    for (auto verb = sentence.begin; verb < sentence.end && !has(words[verb].cues, kOpen); ++verb) {
      if (words[verb].entry == nullptr || !finds(*words[verb].entry)) continue;
      const auto first = verb - std::min(verb - sentence.begin, kSubject);
      if (std::none_of(words.begin() + first, words.begin() + verb, [](const ReadWord& word) { return has(word.cues, kCueSelf); }))
        continue;
      for (auto i = verb + 1; i + 1 < std::min(sentence.end, verb + 1 + kReach); ++i) {
        const auto thing = words[i].text;
        if (thing.size() >= kShortest && !has_digit(thing) && is_number(words[i + 1].text) && !shown_.contains(hash_noun(thing)))
          return thing;
      }
    }
  }
  return {};
}

/// True when the next call is given the thing: the agent takes it to be there.
bool FoundThings::used_next(const RunView& run, std::size_t message, std::string_view thing) {
  constexpr std::size_t kReach = 8;  // steps
  const auto begin = run.steps.begin() + static_cast<std::ptrdiff_t>(message) + 1;
  const auto end = run.steps.begin() + static_cast<std::ptrdiff_t>(std::min(run.steps.size(), message + 1 + kReach));
  const auto next = std::find_if(begin, end, [](const StepView& step) { return step.kind != Kind::kModel; });
  if (next == end || next->kind != Kind::kTool) return false;
  run.pace(next->input.size());
  fold(next->input, folded_);
  return folded_.find(thing) != std::string::npos;
}

void FoundThings::find(const RunView& run, Verdict& verdict) {
  constexpr std::size_t kLongest = 600;  // bytes of a message
  auto empty = kNoStep;
  std::size_t shown_upto = 0;
  shown_.clear();
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    run.pace(step.output.size());
    if (step.kind != Kind::kModel || step.output.size() > kLongest || !has_numbered_word(step.output) || !finding_words_.finds(step.output))
      continue;
    // Most runs have no such message; then no output is read.
    if (shown_upto == 0) show(run.user_request, true);
    for (; shown_upto < i; ++shown_upto) {
      const auto& before = run.steps[shown_upto];
      run.pace(before.output.size());
      if (before.kind == Kind::kUser) show(before.said(), true);
      if (before.kind != Kind::kTool) continue;
      show(before.output, false);
      if (scene_.hollow[shown_upto] || shows_nothing(before)) empty = shown_upto;
    }
    if (empty == kNoStep) continue;
    const std::string thing(thing_not_shown(step.output));
    if (thing.empty() || !used_next(run, i, thing)) continue;
    const FiringLine::Doubt doubt{"found_nowhere", empty, "the agent says that it found something that no output shows"};
    if (!rules_.line.fires(kNotShown, doubt, verdict)) return;
    scene_.ungrounded.clear();
    auto found = grounds_.finding(run, empty, pointer_to(i, Field::kOutput));
    found.evidence.push_back({pointer_to(i, Field::kOutput), quote(step.output)});
    return verdict.fire(std::move(found), kNotShown);
  }
}

}  // namespace runwarden::plugins
