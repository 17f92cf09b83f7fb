#include "missing_tool_call/passed_on.h"

#include <algorithm>

#include "common/words.h"
#include "missing_tool_call/told_deeds.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kLongestRead = 4096;  // bytes of a message or turn that is read
constexpr std::uint64_t kNotPassedOn = kCueCondition | kCueHypothesis | kCueNegation | kCueOffer;

/// "You're all set": a claim of no deed in particular, which nothing denies.
bool says_all_done(const Reading& reading) {
  std::vector<ToldDeed> told;
  collect_deeds(
      reading, [](std::uint16_t) { return true; }, [](std::uint16_t) { return false; }, told);
  return std::any_of(told.begin(), told.end(), [&](const ToldDeed& deed) {
    return deed.claim.verb == kNoVerb || has(reading.words[deed.claim.word].cues, kCueFinished);
  });
}

/// A sentence as it is folded.
std::string_view folded_text(const Reading& reading, const Sentence& sentence) {
  if (sentence.begin == sentence.end) return {};
  const auto* begin = reading.words[sentence.begin].text.data();
  const auto& last = reading.words[sentence.end - 1].text;
  return {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
}

}  // namespace

/// True when the last user turns ask for anything.
bool PassedOn::is_asked(const RunView& run) {
  constexpr double kPlainly = 0.6;
  constexpr std::size_t kMostTurns = 4;
  const auto asks = [&](std::string_view turn) {
    if (trim(turn).empty() || turn.size() > kLongestRead) return false;
    run.pace(turn.size());
    read_words(turn, rules_.lexicon, turn_);
    return std::any_of(turn_.sentences.begin(), turn_.sentences.end(),
                       [&](const Sentence& sentence) { return reader_.asks(turn_, sentence) >= kPlainly; });
  };
  std::size_t turns = 0;
  for (auto i = run.steps.size(); i-- > 0 && turns < kMostTurns;) {
    if (run.steps[i].kind != Kind::kUser) continue;
    ++turns;
    if (asks(run.steps[i].said())) return true;
  }
  return asks(run.user_request);
}

/// True when the message in scene_.reading passes something on and leaves nothing open: it says that all is done, or it passes on right now
/// what the user asked for, and says goodbye. A mere promise before a goodbye is none.
bool PassedOn::closes_on_it(const RunView& run) {
  const auto& reading = scene_.reading;
  if (reading.asks() || reading.admits()) return false;
  bool passes = false, now = false;
  HashSet words;
  for (const auto& sentence : reading.sentences) {
    if (sentence.question || has(sentence.cues, kNotPassedOn)) continue;
    words.clear();
    for (auto i = sentence.begin; i < sentence.end; ++i) words.insert(hash_bytes(reading.words[i].text));
    if (!passing_on_.in(folded_text(reading, sentence), words)) continue;
    passes = true;
    now |= !has(sentence.cues, kCueModal);
  }
  return passes && (says_all_done(reading) || (now && has(reading.cues, kCueGoodbye) && is_asked(run)));
}

bool PassedOn::tells(const RunView& run, std::string_view text) {
  if (text.size() > kLongestRead) return false;
  run.pace(text.size());
  if (!passing_on_.may_be_in(text)) return false;
  std::string folded;
  HashSet words;
  fold(text, folded);
  for_each_word(folded, [&](std::string_view word) {
    words.insert(hash_bytes(word));
    return true;
  });
  if (!passing_on_.in(folded, words)) return false;
  if (follow_ups_.in(folded, words)) return true;
  read(text, rules_.lexicon, scene_.reading);
  return closes_on_it(run);
}

void PassedOn::judge(const RunView& run, Verdict& verdict) {
  constexpr std::size_t kMostRead = 4;
  constexpr double kPassedOn = 0.65;
  if (rules_.send_verb == kNoVerb) return;
  std::size_t read_messages = 0;
  const auto fire = [&](const AgentMessage& said) {
    const FiringLine::Doubt doubt{"passing_on", said.step, "the agent says that it passes this on, but no call did"};
    if (!rules_.line.fires(kPassedOn, doubt, verdict)) return;
    const Request meant{rules_.send_verb, Thing::kUnknown, false, false, false, kNoStep, {}};
    verdict.fire(asked_deeds_.finding(run, meant, said, scene_.ran.any ? AskedDeeds::kNoWriteScore : AskedDeeds::kNoToolScore), kPassedOn);
  };
  if (tells(run, run.outcome)) return fire({run.outcome, "/outcomeSummary", kNoStep});
  for (auto i = run.steps.size(); i-- > 0 && read_messages < kMostRead;) {
    if (run.steps[i].kind != Kind::kModel) continue;
    ++read_messages;
    if (tells(run, run.steps[i].output)) return fire({run.steps[i].output, pointer_to(i, Field::kOutput), i});
  }
}

}  // namespace runwarden::plugins
