#include "missing_tool_call/passed_on.h"

#include <algorithm>

#include "common/tools.h"
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

bool PassedOn::holds(const Reading& reading, const Sentence& sentence, const Phrases& phrases) {
  HashSet words;
  for (auto i = sentence.begin; i < sentence.end; ++i) words.insert(hash_bytes(reading.words[i].text));
  return phrases.in(folded_text(reading, sentence), words);
}

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
  for (const auto& sentence : reading.sentences) {
    if (sentence.question || has(sentence.cues, kNotPassedOn)) continue;
    if (!holds(reading, sentence, passing_on_)) continue;
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

/// True for a turn that asks for a person to speak to.
bool PassedOn::wants_contact(const RunView& run, std::string_view turn) {
  constexpr double kAsks = 0.4;
  constexpr std::uint32_t kFewWords = 8;  // "Get me a manager." can hardly be about anything else
  if (turn.size() > kLongestRead || !contacts_.may_be_in(turn)) return false;
  run.pace(turn.size());
  read_words(turn, rules_.lexicon, turn_);
  return std::any_of(turn_.sentences.begin(), turn_.sentences.end(), [&](const Sentence& sentence) {
    std::uint64_t cues = 0;
    for (auto i = sentence.begin; i < sentence.end; ++i) cues |= turn_.words[i].cues;
    return holds(turn_, sentence, contacts_) &&
           (sentence.end - sentence.begin <= kFewWords || has(cues, kCueSelf) || reader_.asks(turn_, sentence) >= kAsks);
  });
}

/// The last turn before a step that asks for a person to speak to: the run's number of steps for `userRequestText`, kNoStep for none.
std::size_t PassedOn::contact_asked_for(const RunView& run, std::size_t end) {
  constexpr std::size_t kMostTurns = 3;
  std::size_t turns = 0;
  for (auto i = end; i-- > 0 && turns < kMostTurns;) {
    if (run.steps[i].kind != Kind::kUser) continue;
    ++turns;
    if (wants_contact(run, run.steps[i].said())) return i;
  }
  return turns < kMostTurns && wants_contact(run, run.user_request) ? run.steps.size() : kNoStep;
}

/// True when a call between two steps may have changed something, or one anywhere has a name of handing over.
bool PassedOn::may_put_through(const RunView& run, std::size_t begin, std::size_t end) const {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    if (run.steps[i].kind != Kind::kTool) continue;
    if (i >= begin && i < end && scene_.ran.may_change[i] != 0) return true;
    words.clear();
    split_tool_name(base_name(run.steps[i].name), words);
    if (std::any_of(words.begin(), words.end(), [&](const auto& word) { return among(word, rules_.handover_tool_words); })) return true;
  }
  return false;
}

/// The sentence of a message that says that the user was put through; nullptr for none. Leaves the message's reading in scene_.reading.
const Sentence* PassedOn::told_handover(const RunView& run, std::string_view message) {
  if (message.size() > kLongestRead || !(put_through_.may_be_in(message) || putting_through_.may_be_in(message))) return nullptr;
  run.pace(message.size());
  read(message, rules_.lexicon, scene_.reading);
  const auto& reading = scene_.reading;
  if (reading.asks() || reading.admits() || has(reading.cues, kCueSimulated)) return nullptr;
  const auto told = std::find_if(reading.sentences.begin(), reading.sentences.end(), [&](const Sentence& sentence) {
    if (sentence.question || has(sentence.cues, kNotPassedOn | kCueModal)) return false;
    return holds(reading, sentence, put_through_) || (has(reading.cues, kCueGoodbye) && holds(reading, sentence, putting_through_));
  });
  return told == reading.sentences.end() ? nullptr : &*told;
}

/// The verb of a claim of the sentence, of the last one that has one.
std::uint16_t PassedOn::claimed_in(const Sentence& sentence) const {
  auto verb = rules_.finish_verb;
  for (auto i = sentence.begin; i < sentence.end; ++i) {
    const auto* entry = scene_.reading.words[i].entry;
    if (entry != nullptr && entry->verb != kNoVerb && (entry->forms & (kFormDone | kFormDoing)) != 0) verb = entry->verb;
  }
  return verb;
}

void PassedOn::judge_handover(const RunView& run, Verdict& verdict) {
  constexpr std::size_t kMostMessages = 2;
  constexpr double kPutThrough = 0.65;
  std::size_t judged = 0;
  for (const auto& message : told_messages(run)) {
    if (++judged > kMostMessages) return;
    const auto* told = told_handover(run, message.text);
    if (told == nullptr) continue;
    const auto verb = claimed_in(*told);
    const auto end = std::min(message.place, run.steps.size());
    const auto turn = contact_asked_for(run, end);
    const bool in_request = turn == run.steps.size();
    const auto begin = turn == kNoStep || in_request ? 0 : AskedDeeds::begin_of(run, turn);
    if (turn == kNoStep || verb == kNoVerb || may_put_through(run, begin, end) || scene_.requests.make_believe(run)) return;
    const auto said = said_in(message);
    const FiringLine::Doubt doubt{"handover", said.step, "the agent says that it put the user through, but no call did"};
    if (!rules_.line.fires(kPutThrough, doubt, verdict)) return;
    Request wanted{verb, Thing::kUnknown, false, false, false, kNoStep, run.user_request};
    if (!in_request) wanted.step = turn, wanted.turn = run.steps[turn].said();
    verdict.fire(asked_deeds_.finding(run, wanted, said, scene_.ran.any ? AskedDeeds::kNoWriteScore : AskedDeeds::kNoToolScore),
                 kPutThrough);
    return;
  }
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
