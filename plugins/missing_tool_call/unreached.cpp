#include "missing_tool_call/unreached.h"

#include <algorithm>
#include <optional>

#include "common/json_scan.h"
#include "common/tools.h"
#include "common/words.h"
#include "evidence/call_entities.h"
#include "evidence/clauses.h"
#include "evidence/outcome_words.h"
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

/// True for two telephone numbers that end in the same digits: one may be without the country's.
bool same_number(std::string_view one, std::string_view other) {
  static constexpr std::size_t kCompared = 6;
  const auto last = [](std::string_view number) {
    std::string digits;
    std::copy_if(number.begin(), number.end(), std::back_inserter(digits), is_digit);
    return digits.substr(digits.size() - std::min(digits.size(), kCompared));
  };
  return last(one) == last(other);
}

/// True for a short text with a word of a place: "Ann Ray" and "ann@quay.example".
bool shares_name(std::string_view text, std::string_view place) {
  constexpr std::size_t kLongestName = 60, kShortestWord = 3;  // bytes
  bool shares = false;
  if (text.size() > kLongestName) return false;
  for_each_word(text, [&](std::string_view word) {
    shares = word.size() >= kShortestWord && contains(place, word);
    return !shares;
  });
  return shares;
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

/// True for a call whose tool sends by its name.
bool Unreached::sends_by_name(const StepView& call) {
  const auto& groups = scene_.tools.meaning(call.name).groups;
  return std::find(groups.begin(), groups.end(), rules_.send_group) != groups.end();
}

/// True when a call whose tool does not send by its name may have sent something: it changed something, runs commands that send, or reports
/// that something was sent.
bool Unreached::may_have_sent(const RunView& run) {
  bool any = false;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool) continue;
    if (sends_by_name(step)) {
      any = true;
      continue;
    }
    const auto& tool = scene_.tools.meaning(step.name);
    const bool anything = tool.runs_anything() || tool.unknown || tool.meaningless;
    if ((anything && speaks_of_sending(run, step.input)) || (!tool.reads && speaks_of_sending(run, step.output))) return true;
  }
  if (!any) return scene_.ran.groups[rules_.send_group] != 0;
  const auto changes_beside = [&](const StepView& step) {
    return step.kind == Kind::kTool && !sends_by_name(step) &&
           scene_.ran.may_change[static_cast<std::size_t>(&step - run.steps.data())] != 0;
  };
  return std::any_of(run.steps.begin(), run.steps.end(), changes_beside);
}

/// True when one of the calls that send may have reached a place that none names.
bool Unreached::may_reach(const RunView& run, std::string_view place) {
  return std::any_of(run.steps.begin(), run.steps.end(), [&](const StepView& step) {
    if (step.kind != Kind::kTool || !sends_by_name(step)) return false;
    run.pace(step.input.size() + step.output.size());
    return may_resolve(step, place);
  });
}

/// True unless the arguments of a call that sends name all whom it reaches, by places of the same kind that the user gave or that it is
/// sent "to": a name, an id or a list may stand for any other place.
bool Unreached::may_resolve(const StepView& call, std::string_view place) const {
  std::size_t at = 0;
  const auto kind = next_contact(place, at).kind;
  if (!looks_like_json(call.input)) return true;
  JsonScanner cursor(call.input);
  std::string_view key, reached_by;
  std::string text, name;
  bool reached = false;
  using Token = JsonScanner::Token;
  for (auto token = cursor.next(); token != Token::kEnd; token = cursor.next()) {
    if (token == Token::kBad) return true;
    if (token == Token::kKey) key = cursor.text();
    if (token != Token::kString && token != Token::kNumber) continue;
    fold(trim(cursor.text()), text);
    fold(last_word_of(key), name);
    at = 0;
    const auto contact = next_contact(text, at);
    const bool whole = contact.text.size() == text.size() && !text.empty();
    if (whole && contact.kind == kind) {
      if (kind == Contact::Kind::kNumber && same_number(text, place)) return true;
      // Any other member may hold the sender.
      fold(key, name);
      const auto* word = rules_.lexicon.find(name);
      const bool directed = word != nullptr && has(word->cues, kCuePreposition) && !among(name, rules_.tool_words.calls.old_prefixes);
      const auto is_it = [&](const Asked& asked) { return asked.place == text; };
      if (!directed && std::none_of(asked_.begin(), asked_.end(), is_it)) continue;
      reached = true;
      reached_by = key;
      continue;
    }
    if (text.empty() || whole) continue;
    if (rules_.tool_words.calls.id_names.contains(name) || key == reached_by || shares_name(text, place)) return true;
  }
  return !reached;
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

bool Unreached::is_named(const RunView& run, std::string_view place) {
  std::string folded;
  return std::any_of(run.steps.begin(), run.steps.end(), [&](const StepView& step) {
    if (step.kind != Kind::kTool) return false;
    run.pace(step.input.size() + step.output.size());
    fold(step.input, folded);
    if (contains(folded, place)) return true;
    if (!sends_by_name(step)) return false;
    fold(step.output, folded);
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
             !is_named(run, asked.place) && !may_reach(run, asked.place);
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
