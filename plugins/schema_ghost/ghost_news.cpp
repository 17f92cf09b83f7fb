#include "schema_ghost/ghost_news.h"

#include <algorithm>

#include "common/json_scan.h"
#include "common/words.h"
#include "evidence/stated_values.h"
#include "evidence/trouble.h"
#include "text/fold.h"

namespace runwarden::plugins {

/// True when a message gives a reason ("due to fog") in words that occur nowhere before it, in a sentence that admits nothing and leaves
/// nothing open. Searches the run for the first few such messages only.
bool GhostNews::gives_new_reason(const RunView& run, std::string_view message, std::size_t step, std::size_t& looked) {
  constexpr std::uint32_t kReach = 5, kGuess = 3;
  constexpr std::size_t kMostLooked = 4, kMostNouns = 32;
  constexpr std::uint64_t kOpen =
      kCueNegation | kCueAdmission | kCueTrouble | kCueNothingFound | kCueCondition | kCueHypothesis | kCueOffer;
  if (looked >= kMostLooked || !scene_.reason_words.finds(message)) return false;
  read(message, rules_.lexicon, scene_.reading);
  std::vector<std::uint64_t> nouns;
  for (const auto& sentence : scene_.reading.sentences) {
    if (sentence.question || has(sentence.cues, kOpen)) continue;
    for (auto i = sentence.begin; i < sentence.end; ++i) {
      if (!has(scene_.reading.words[i].cues, kCueReason)) continue;
      // "may be due to" is a guess. Farther away, "may" can be the month.
      const auto near = scene_.reading.words.begin() + std::max(sentence.begin, i - std::min(i, kGuess));
      if (std::any_of(near, scene_.reading.words.begin() + i, [](const ReadWord& word) { return has(word.cues, kCueModal); })) break;
      const auto end = std::min(sentence.end, i + 1 + kReach);
      for (auto k = i + 1; k < end && scene_.reading.words[k].before == Break::kNone; ++k) {
        const auto& word = scene_.reading.words[k];
        if (word.cues == 0 && word.text.size() >= kTellingWord && nouns.size() < kMostNouns) nouns.push_back(hash_noun(word.text));
      }
    }
  }
  if (nouns.empty()) return false;
  ++looked;
  std::string folded;
  const auto new_in = [&](std::string_view text) {
    run.pace(text.size());
    fold(text, folded);
    return for_each_word(folded, [&](auto word) { return std::find(nouns.begin(), nouns.end(), hash_noun(word)) == nouns.end(); });
  };
  if (!new_in(run.user_request)) return false;
  return std::all_of(run.steps.begin(), run.steps.begin() + static_cast<std::ptrdiff_t>(std::min(step, run.steps.size())),
                     [&](const StepView& other) { return new_in(other.input) && new_in(other.output) && new_in(other.error_message); });
}

/// True for a call that returned nothing, or only trouble, while no other such call is open.
bool GhostNews::gave_nothing_new(const RunView& run, std::size_t call, News& news) {
  constexpr std::size_t kMostRead = 8;
  const auto& step = run.steps[call];
  if (scene_.hollow[call]) return !gaps_.silent_by_design(step) && !gaps_.only_acts(step.name);
  return news.hollow == kNoStep && ++news.read <= kMostRead && speaks_of_trouble(step.output, rules_.lexicon, scene_.reading);
}

/// True when the message states something that nobody has told. Notes a reason that nobody has given.
bool GhostNews::tells_news(const RunView& run, AnswerText message, News& news) {
  constexpr std::size_t kNames = 3, kSigns = 8;
  if (news.reason == kNoStep && gives_new_reason(run, message.text, message.step, news.looked)) {
    news.reason = news.hollow;
    news.reasoned = message.step;
  }
  const auto told = unheard_.news(message.text);
  return told.figures > 0 || told.names >= (news.given ? kNames : 1) || told.signs >= kSigns;
}

/// Processes one step. True when it states something new while a call that returned nothing is open.
bool GhostNews::hear_step(const RunView& run, std::size_t at, News& news) {
  const auto& step = run.steps[at];
  run.pace(step.input.size() + step.output.size() + step.error_message.size());
  if (step.kind == Kind::kModel) {
    if (news.hollow != kNoStep) return tells_news(run, {step.output, at}, news);
    unheard_.hear(step.output);
    return false;
  }
  unheard_.hear(step.kind == Kind::kUser ? step.said() : step.output);
  unheard_.hear(step.error_message);
  if (step.kind != Kind::kTool) return false;
  unheard_.hear(step.input);
  if (at == news.first || (at > news.first && gave_nothing_new(run, at, news))) {
    news.hollow = at;
    return false;
  }
  news.given = true;
  // The same source has returned the data after all.
  if (news.hollow != kNoStep && !scene_.hollow[at] && run.steps[news.hollow].name == step.name &&
      !gaps_.of_another_object(run.steps[news.hollow], step))
    news.hollow = kNoStep;
  return false;
}

/// The first message after a step that returned nothing of use, and before the next call, that says that the agent looked by hand and that
/// tells a new name or several new figures: a single one may be a sum. The number of steps for the outcome, kNoStep for none.
std::size_t GhostNews::says_looked_up(const RunView& run, std::size_t step) {
  constexpr std::size_t kLongestError = 1000;  // bytes; a program that printed more may have printed what the message tells
  if (run.steps[step].output.size() > kLongestError) return kNoStep;
  const auto says = [&](std::string_view message) {
    run.pace(message.size());
    if (!grounds_.looked_by_hand(message)) return false;
    const auto told = unheard_.news(message);
    return told.figures > 1 || told.names > 0;
  };
  for (auto i = step + 1; i < run.steps.size(); ++i) {
    if (run.steps[i].kind == Kind::kTool) return kNoStep;
    if (run.steps[i].kind == Kind::kModel && says(run.steps[i].output)) return i;
  }
  return says(run.outcome) ? run.steps.size() : kNoStep;
}

/// The last message, if it answers plainly for a look-up that failed: it denies nothing, mentions no trouble and leaves nothing open. Its
/// step, the number of steps for the outcome, or kNoStep.
std::size_t GhostNews::answers_for_failed(const RunView& run, std::size_t hollow) {
  constexpr std::uint64_t kOpen = kCueHypothesis | kCueOffer | kCuePlan | kCueTrouble | kCueAdmission | kCueNothingFound | kCueHandover |
                                  kCueSimulated | kCueExample | kCueModal;
  if (run.steps[hollow].outcome != Outcome::kFailed) return kNoStep;
  const auto& reading = scene_.reading;
  const auto last = find_final_message(run, rules_.lexicon, scene_.reading);
  const auto at = last.step == kNoStep ? run.steps.size() : last.step;
  if (!last.found || at < hollow) return kNoStep;
  const bool open = has(reading.cues, kOpen) || reading.asks() || reading.denies || negates_anything(reading);
  if (open || !reading.understood(last.text) || scene_.disclaimers.draws_on_own_knowledge(last.text)) return kNoStep;
  return unheard_.news(last.text).names > 0 ? at : kNoStep;
}

/// The finding that a message tells something that the step `hollow` did not return. `message` is its step, or the number of steps for the
/// outcome.
Finding GhostNews::finding(const RunView& run, std::size_t hollow, std::size_t message) {
  scene_.ungrounded.clear();
  const bool in_outcome = message == run.steps.size();
  const auto pointer = in_outcome ? "/outcomeSummary" : pointer_to(message, Field::kOutput);
  auto found = grounds_.finding(run, hollow, pointer);
  found.evidence.push_back({pointer, quote(in_outcome ? run.outcome : run.steps[message].output)});
  return found;
}

void GhostNews::find(const RunView& run, Verdict& verdict) {
  constexpr double kNoSource = 0.35, kSaidSource = 0.65, kSomeSource = 0.25, kReason = 0.25, kOnlyReason = 0.65;
  // Most runs have no such step; then there is nothing to index.
  News news;
  const auto is_first = [&](std::size_t i) { return run.steps[i].kind == Kind::kTool && gave_nothing_new(run, i, news); };
  while (news.first < run.steps.size() && !is_first(news.first)) ++news.first;
  if (news.first == run.steps.size()) return;
  unheard_.clear();
  unheard_.hear(run.user_request);
  bool told = false;
  for (std::size_t i = 0; i < run.steps.size() && !told; ++i) told = hear_step(run, i, news);
  told = told || (news.hollow != kNoStep && tells_news(run, {run.outcome, run.steps.size()}, news));
  if (news.reason != kNoStep && !news.given) {
    const FiringLine::Doubt doubt{"new_reason", news.reason, "the answer gives a reason found nowhere earlier in the run"};
    if (rules_.line.fires(kOnlyReason, doubt, verdict)) verdict.fire(finding(run, news.reason, news.reasoned), kOnlyReason);
  } else if (told && news.given) {
    (void)rules_.line.fires(kSomeSource, {"unheard", news.hollow, "the answer states something found nowhere earlier in the run"}, verdict);
  } else if (told) {
    auto said = says_looked_up(run, news.hollow);
    if (said == kNoStep) said = answers_for_failed(run, news.hollow);
    const double sure = said != kNoStep ? kSaidSource : kNoSource;
    const FiringLine::Doubt doubt{"no_source", news.hollow, "no call returned anything, and the answer states something new"};
    if (rules_.line.fires(sure, doubt, verdict) && said != kNoStep) verdict.fire(finding(run, news.hollow, said), sure);
  } else if (news.reason != kNoStep) {
    (void)rules_.line.fires(kReason, {"new_reason", news.reason, "the answer gives a reason found nowhere earlier in the run"}, verdict);
  }
}

}  // namespace runwarden::plugins
