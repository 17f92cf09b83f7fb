#include "missing_tool_call/unreached.h"

#include <algorithm>
#include <optional>

#include "common/words.h"
#include "evidence/call_entities.h"
#include "evidence/clauses.h"
#include "missing_tool_call/told_deeds.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kMostMessages = 3, kMostTurns = 6, kMostPlaces = 16, kLongestText = 8192;

/// The folded text of a sentence, with the sign of a channel that it begins with.
std::string_view text_of(const Reading& reading, const Sentence& sentence) {
  if (sentence.begin == sentence.end) return {};
  const auto* begin = reading.words[sentence.begin].text.data();
  const auto& last = reading.words[sentence.end - 1].text;
  if (begin > reading.folded.data() && begin[-1] == '#') --begin;
  return {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

bool Unreached::sends(const WordEntry* word) const {
  if (word == nullptr || word->verb == kNoVerb) return false;
  return rules_.lexicon.verb(word->verb).group == rules_.send_group || scene_.requests.telling(word->verb);
}

/// True for arguments or an output with a word for sending.
bool Unreached::speaks_of_sending(const RunView& run, std::string_view text) const {
  run.pace(text.size());
  std::string folded;
  fold(text, folded);
  bool found = false;
  for_each_word(folded, [&](std::string_view word) {
    found = sends(rules_.lexicon.find(word));
    return !found;
  });
  return found;
}

/// True when a call is one that sends, runs commands that do, or reports that something was sent.
bool Unreached::may_have_sent(const RunView& run) const {
  if (scene_.ran.groups[rules_.send_group] != 0) return true;
  return std::any_of(run.steps.begin(), run.steps.end(), [&](const StepView& step) {
    if (step.kind != Kind::kTool) return false;
    const auto& tool = scene_.tools.meaning(step.name);
    const bool any = tool.runs_anything() || tool.unknown || tool.meaningless;
    return (any && speaks_of_sending(run, step.input)) || (!tool.reads && speaks_of_sending(run, step.output));
  });
}

/// Keeps the places that a turn names where it asks for something, or right behind: "Can you text him the new time? 555-0147".
void Unreached::read_turn(const RunView& run, std::size_t step, std::string_view turn) {
  constexpr double kAsks = 0.4;
  if (turn.size() > kLongestText) return;
  run.pace(turn.size());
  read_words(turn, rules_.lexicon, scene_.reading);
  const Sentence* before = nullptr;
  for (const auto& sentence : scene_.reading.sentences) {
    const auto asks = [&] {
      return reader_.asks(scene_.reading, sentence) >= kAsks || (before != nullptr && reader_.asks(scene_.reading, *before) >= kAsks);
    };
    const auto text = text_of(scene_.reading, sentence);
    std::size_t at = 0;
    for (auto contact = next_contact(text, at); !contact.text.empty() && asked_.size() < kMostPlaces; contact = next_contact(text, at)) {
      if (asks()) asked_.push_back({std::string(contact.text), turn, step});
    }
    before = &sentence;
  }
}

/// Reads what the user said before a message.
void Unreached::read_turns(const RunView& run, std::size_t end) {
  asked_.clear();
  read_turn(run, kNoStep, run.user_request);
  std::size_t turns = 0;
  for (auto i = std::min(end, run.steps.size()); i-- > 0 && turns + 1 < kMostTurns;) {
    if (run.steps[i].kind != Kind::kUser) continue;
    ++turns;
    read_turn(run, i, run.steps[i].said());
  }
}

/// True for a verb that a sentence puts under a condition, denies, or leaves for later.
bool Unreached::leaves_open(const Sentence& sentence, std::uint32_t verb) const {
  constexpr auto kOpen = kCueModal | kCueCondition | kCueNegation | kCueHypothesis | kCuePlan | kCueOffer | kCueSimulated;
  for (auto i = verb; i-- > sentence.begin;) {
    if (has(scene_.reading.words[i].cues, kOpen)) return true;
    if (scene_.reading.words[i + 1].before != Break::kNone) return false;
  }
  return false;
}

bool Unreached::is_named(const RunView& run, std::string_view place) const {
  std::string folded;
  return std::any_of(run.steps.begin(), run.steps.end(), [&](const StepView& step) {
    if (step.kind != Kind::kTool) return false;
    run.pace(step.input.size());
    fold(step.input, folded);
    return contains(folded, place);
  });
}

/// True where a sentence has the place behind a preposition: "a copy has gone to jo@quay.example", but not "All done, jo@quay.example".
bool Unreached::leads_to(const Sentence& sentence, std::string_view place) const {
  const auto& words = scene_.reading.words;
  const auto text = text_of(scene_.reading, sentence);
  const auto* at = text.data() + text.find(place);
  for (auto i = sentence.begin + 1; i < sentence.end; ++i) {
    const auto* begin = words[i].text.data();
    // The sign of a channel parts it from the word before.
    const bool joined = words[i].before == Break::kNone || place.front() == '#';
    if (begin >= at && begin < at + place.size()) return joined && has(words[i - 1].cues, kCuePreposition);
  }
  return false;
}

/// True for a sentence that tells that something was sent to this place: by its verb, or as the learned reader has it.
bool Unreached::tells(const Sentence& sentence, std::string_view place) {
  constexpr double kTells = 0.3;
  const auto& reading = scene_.reading;
  if (sentence.question || !contains(text_of(reading, sentence), place)) return false;
  for (auto i = sentence.begin; i < sentence.end; ++i) {
    if (sends(reading.words[i].entry) && (reading.words[i].entry->forms & kFormDone) != 0) return !leaves_open(sentence, i);
  }
  return leads_to(sentence, place) && !has(sentence.cues, kOpenCues) && !negates_anything(reading, sentence) &&
         reader_.tells(reading, sentence) >= kTells;
}

void Unreached::judge(const RunView& run, Verdict& verdict) {
  constexpr double kUnreached = 0.65;
  if (AskedDeeds::is_talk(verdict) || !scene_.ran.any) return;
  std::size_t judged = 0;
  std::optional<bool> sent;
  for (const auto& message : told_messages(run)) {
    if (++judged > kMostMessages || message.text.size() > kLongestText) return;
    if (!may_hold_contact(message.text)) continue;
    run.pace(message.text.size());
    read_turns(run, std::min(message.step, run.steps.size()));
    if (asked_.empty()) continue;
    if (!sent) sent = may_have_sent(run);
    if (*sent) return;
    read(message.text, rules_.lexicon, scene_.reading);
    const auto& reading = scene_.reading;
    if (reading.admits() || reading.hands_over() || has(reading.cues, kCueSimulated) || holds_letter(message.text) ||
        !reading.understood(message.text))
      return;
    const auto left = std::find_if(asked_.begin(), asked_.end(), [&](const Asked& asked) {
      return std::any_of(reading.sentences.begin(), reading.sentences.end(),
                         [&](const Sentence& sentence) { return tells(sentence, asked.place); }) &&
             !is_named(run, asked.place);
    });
    if (left == asked_.end()) continue;
    const FiringLine::Doubt doubt{"unreached", message.step, "no call names the place to which the message tells that something was sent"};
    if (!rules_.line.fires(kUnreached, doubt, verdict)) return;
    const Request meant{rules_.send_verb, Thing::kUnknown, false, false, false, left->step, left->turn};
    verdict.fire(asked_deeds_.finding(run, meant, said_in(message), AskedDeeds::kNoWriteScore), kUnreached);
    return;
  }
}

}  // namespace runwarden::plugins
