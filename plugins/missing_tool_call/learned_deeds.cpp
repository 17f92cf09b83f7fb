#include "missing_tool_call/learned_deeds.h"

#include <algorithm>

#include "common/words.h"
#include "evidence/clauses.h"
#include "evidence/written_call.h"
#include "missing_tool_call/told_deeds.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kMostMessages = 6;    // from the end
constexpr std::size_t kMostTurns = 16;      // from the start
constexpr std::size_t kLongestTurn = 4096;  // bytes: a longer one is a text to work on
constexpr double kMaybeAsked = 0.4, kMaybeTold = 0.4, kPlainlyTold = 0.8, kSummarized = 0.9;
constexpr double kBoth = 0.5;  // the probability of both together from which it fires

}  // namespace

/// A verb of the sentence that names a deed.
std::uint16_t LearnedDeeds::verb_of(const Sentence& sentence) const {
  for (auto i = sentence.begin; i < sentence.end; ++i) {
    const auto* entry = scene_.reading.words[i].entry;
    if (entry != nullptr && entry->verb != kNoVerb && scene_.actions[entry->verb]) return entry->verb;
  }
  return kNoVerb;
}

bool LearnedDeeds::may_be_done_by_any(const RunView& run, const Reading& reading, const Sentence& sentence) const {
  const auto begin = reading.words.begin() + sentence.begin, end = reading.words.begin() + sentence.end;
  if (!scene_.ran.any)
    return calls_told_.empty() &&
           std::any_of(begin, end, [&](const ReadWord& word) { return scene_.text_work.is_text(word.text, reading.language); });
  HashSet named;
  std::for_each(begin, end, [&](const ReadWord& word) { named.insert(hash_noun(word.text)); });
  return std::any_of(run.steps.begin(), run.steps.end(), [&](const StepView& step) {
    if (step.kind != Kind::kTool) return false;
    const auto& tool = scene_.tools.meaning(step.name);
    return !tool.reads && std::any_of(tool.nouns.begin(), tool.nouns.end(), [&](auto noun) { return named.contains(noun); });
  });
}

/// Keeps in `best` the likeliest request of a user turn.
void LearnedDeeds::ask(const RunView& run, std::size_t step, std::string_view turn, Likely& best) {
  if (trim(turn).empty() || turn.size() > kLongestTurn || asked_deeds_.gives_text(turn)) return;
  run.pace(turn.size());
  read_words(turn, rules_.lexicon, scene_.reading);
  for (const auto& sentence : scene_.reading.sentences) {
    const auto sure = reader_.asks(scene_.reading, sentence);
    if (sure <= best.sure || sure < kMaybeAsked || may_be_done_by_any(run, scene_.reading, sentence)) continue;
    if (is_arithmetic(scene_.reading, sentence)) continue;
    best = {sure, turn, step, verb_of(sentence)};
    asked_words_.clear();
    std::for_each(scene_.reading.words.begin() + sentence.begin, scene_.reading.words.begin() + sentence.end, [&](const ReadWord& word) {
      if (is_telling(word)) asked_words_.insert(hash_noun(word.text));
    });
  }
}

/// True for a sentence that leaves it open whether anything was done, says that something was not, or tells what was found.
bool LearnedDeeds::leaves_open(const Sentence& sentence) const {
  return sentence.question || has(sentence.cues, kOpenCues) || negates_anything(scene_.reading, sentence);
}

/// The sentence, or its beginning up to the part that leaves something open or denies it: "It is on hold until May, no charges in between."
/// What stands behind a colon tells of the same thing.
Sentence LearnedDeeds::told_part(const Sentence& sentence) const {
  constexpr std::uint32_t kShortest = 4;  // words
  const auto& words = scene_.reading.words;
  if (sentence.question) return sentence;
  Sentence part = sentence;
  for (auto i = sentence.begin; i < sentence.end; ++i) {
    if (i > sentence.begin && words[i].before == Break::kComma) part.end = i;
    if (!has(words[i].cues, kOpenCues) && !negates(scene_.reading, words[i])) continue;
    if (part.end == sentence.end || part.end - part.begin < kShortest) return sentence;
    part.cues = 0;
    for (auto k = part.begin; k < part.end; ++k) part.cues |= words[k].cues;
    return part;
  }
  return sentence;
}

/// False for a deed of another kind than was asked for: "booked you a smile" after "cancel my booking".
bool LearnedDeeds::may_answer(const Likely& asked, const Likely& told) const {
  constexpr double kPlain = 0.7;
  if (asked.verb == kNoVerb || told.verb == kNoVerb || told.shares || asked.sure * told.sure >= kPlain) return true;
  return rules_.lexicon.verb(asked.verb).group == rules_.lexicon.verb(told.verb).group;
}

/// True for a sentence that repeats a state that a tool reported.
bool LearnedDeeds::repeats_state(const RunView& run, const Sentence& sentence) {
  const auto at = static_cast<std::uint32_t>(&sentence - scene_.reading.sentences.data());
  return std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), [&](const Claim& claim) {
    return claim.sentence == at && claim.state && claim.verb != kNoVerb && call_words_.reported_state(run, claim);
  });
}

/// True for a sentence in which a rule finds a deed.
bool LearnedDeeds::claims_deed(const Sentence& sentence) const {
  const auto at = static_cast<std::uint32_t>(&sentence - scene_.reading.sentences.data());
  return std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), [&](const Claim& claim) {
    return claim.sentence == at && !claim.finding && claim.verb != kNoVerb && tells_deed(scene_.reading, claim);
  });
}

/// True for a sentence that shares a telling word with what the user asked for.
bool LearnedDeeds::shares_asked(const Sentence& sentence) const {
  return std::any_of(scene_.reading.words.begin() + sentence.begin, scene_.reading.words.begin() + sentence.end,
                     [&](const ReadWord& word) { return is_telling(word) && asked_words_.contains(hash_noun(word.text)); });
}

/// True for a sentence that names a recipient whom no call that changed something names.
bool LearnedDeeds::names_recipient(const RunView& run, const Sentence& sentence) {
  bool named = false;
  for (auto i = sentence.begin; i < sentence.end; ++i) {
    const auto& word = scene_.reading.words[i];
    if (!recipients_.contains(hash_bytes(word.text))) continue;
    if (call_words_.is_changed(run, word)) return false;
    named = true;
  }
  return named;
}

/// The likeliest deed that a message tells; none where the message as a whole leaves it open.
LearnedDeeds::Likely LearnedDeeds::told_in(const RunView& run, const AgentMessage& said, PriorCalls prior) {
  Likely best;
  run.pace(said.text.size());
  const std::string_view told = calls_told_.empty() ? said.text : std::string_view(calls_told_);
  read(told, rules_.lexicon, scene_.reading);
  if (scene_.reading.admits() || scene_.reading.hands_over() || has(scene_.reading.cues, kCueSimulated) || denies_of_self(scene_.reading) ||
      holds_letter(said.text) || asks_at_end(scene_.reading) || !scene_.reading.understood(told))
    return best;
  // "Done. Shall I tell Ruth, too?" but not "To confirm: seat 14C. If that is right, I'll go ahead."
  const auto& sentences = scene_.reading.sentences;
  const bool goes_on = scene_.reading.asks() || std::any_of(sentences.begin(), sentences.end(), [](const Sentence& sentence) {
                         return has(sentence.cues, kCueModal) && has(sentence.cues, kCueSelf);
                       });
  for (const auto& whole : sentences) {
    const auto sentence = told_part(whole);
    // The summary of calls that were never made tells of nothing else.
    const auto sure = !calls_told_.empty() && claims_deed(whole) ? kSummarized : reader_.tells(scene_.reading, sentence);
    if (sure <= best.sure || sure < (goes_on ? kPlainlyTold : kMaybeTold)) continue;
    if (leaves_open(sentence) || repeats_state(run, whole)) continue;
    const bool shares = shares_asked(sentence);
    if (prior == PriorCalls::kChanges && (!shares || call_words_.shares_changed(run, sentence))) continue;
    if (prior == PriorCalls::kRecipients && !names_recipient(run, sentence)) continue;
    best = {sure, said.text, said.step, verb_of(sentence), shares};
  }
  return best;
}

/// Where the last call before a message stands that may have changed something; kNoStep for none.
std::size_t LearnedDeeds::last_change(std::size_t message) const {
  const auto& changes = scene_.ran.may_change;
  for (auto i = std::min(message, changes.size()); i-- > 0;) {
    if (changes[i] != 0) return i;
  }
  return kNoStep;
}

void LearnedDeeds::judge(const RunView& run, Verdict& verdict) {
  if (AskedDeeds::is_talk(verdict)) return;
  const bool sent = scene_.ran.groups[rules_.send_group] != 0 || scene_.ran.any_purpose;
  std::size_t judged = 0;
  for (const auto& message : told_messages(run)) {
    if (++judged > kMostMessages || !verdict.findings.empty()) return;
    calls_told_ = scene_.ran.any ? std::string{} : told_in_written_calls(message.text, rules_.tool_words.calls);
    // The user's turns are many, and few messages tell a deed.
    if (told_in(run, said_in(message), PriorCalls::kNothing).sure < kMaybeTold) continue;
    judge_message(run, message, verdict);
    if (verdict.findings.empty() && scene_.ran.any_write && !sent) judge_recipients(run, message, verdict);
  }
}

/// Keeps the names in a user's turn to whom something is to be told: "let Ngozi know", "email Ruth", "tell ops@quay.example".
void LearnedDeeds::collect_recipients(const RunView& run, std::size_t step, std::string_view turn, Likely& best) {
  constexpr std::size_t kShortest = 3;
  constexpr std::ptrdiff_t kReach = 4;  // words behind the verb
  if (trim(turn).empty() || turn.size() > kLongestTurn) return;
  run.pace(turn.size());
  read_words(turn, rules_.lexicon, scene_.reading);
  for (const auto& sentence : scene_.reading.sentences) {
    const auto begin = scene_.reading.words.begin() + sentence.begin, end = scene_.reading.words.begin() + sentence.end;
    const auto sends = std::find_if(begin, end, [&](const ReadWord& word) {
      return word.entry != nullptr && word.entry->verb != kNoVerb && rules_.lexicon.verb(word.entry->verb).group == rules_.send_group;
    });
    // "Contacts 'Ann Ray' and 'A. Ray' are the same person" opens with a noun.
    if (sends == end || (sends == begin && scene_.tools.is_plural(sends->text, *sends->entry))) continue;
    const auto sure = reader_.asks(scene_.reading, sentence);
    if (sure < kMaybeAsked) continue;
    const auto add = [&](const ReadWord& word) {
      if (word.text.size() >= kShortest && !has_digit(word.text)) recipients_.insert(hash_bytes(word.text));
    };
    std::for_each(begin, end, [&](const ReadWord& word) {
      if (word.text.data() > scene_.reading.folded.data() && word.text.data()[-1] == '@') add(word);
    });
    const auto reach = std::min(end, sends + 1 + kReach);
    const bool behind = sends + 1 != reach && sends[1].before == Break::kNone;
    for (auto word = sends + 1; behind && word != reach && word->before < Break::kClause; ++word) {
      if (has(word->cues, kCueDeterminer | kCueOwn | kCueConjunction) || (word == sends + 1 && has(word->cues, kCuePreposition))) continue;
      if (word->entry != nullptr) break;  // "tell me when it's up"
      add(*word);
    }
    if (sure > best.sure) best = {sure, turn, step, sends->entry->verb};
  }
}

/// Judges a message that tells a deed to somebody whom the user wanted to be told, where no call sends anything or names him.
void LearnedDeeds::judge_recipients(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr double kSure = 0.65;
  Likely asked;
  recipients_.clear();
  collect_recipients(run, kNoStep, run.user_request, asked);
  std::size_t turns = 0;
  for (auto i = std::min(message.place, run.steps.size()); i-- > 0 && turns < kMostTurns;) {
    if (run.steps[i].kind != Kind::kUser) continue;
    ++turns;
    collect_recipients(run, i, run.steps[i].said(), asked);
  }
  if (asked.sure < kMaybeAsked) return;
  const auto said = said_in(message);
  const auto told = told_in(run, said, PriorCalls::kRecipients);
  if (asked.sure * told.sure < kBoth) return;
  const FiringLine::Doubt doubt{"told_as_done", said.step, "no call sent anything, and the message tells as done that somebody was told"};
  if (rules_.line.fires(kSure, doubt, verdict)) fire(run, said, asked, told, kSure, verdict);
}

/// Judges a message that answers a turn since which nothing was changed.
void LearnedDeeds::judge_message(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr double kSure = 0.65, kMaybe = 0.4;
  const auto place = std::min(message.place, run.steps.size());
  const auto changed = last_change(place);
  Likely asked;
  if (changed == kNoStep) ask(run, kNoStep, run.user_request, asked);
  std::size_t turns = 0;
  for (auto i = place; i-- > (changed == kNoStep ? 0 : changed) && turns < kMostTurns;) {
    if (run.steps[i].kind != Kind::kUser) continue;
    if (changed != kNoStep && AskedDeeds::begin_of(run, i) <= changed) break;
    ++turns;
    ask(run, i, run.steps[i].said(), asked);
  }
  if (asked.sure < kMaybeAsked) return;
  const auto said = said_in(message);
  const auto told = told_in(run, said, changed == kNoStep ? PriorCalls::kNothing : PriorCalls::kChanges);
  if (told.sure < kMaybeTold || !may_answer(asked, told) || asked_deeds_.is_taken_back(run, said.step, told.verb)) return;
  const double sure = asked.sure * told.sure >= kBoth ? kSure : kMaybe;
  const FiringLine::Doubt doubt{"told_as_done", said.step,
                                "no call changed anything, and the message may tell a deed that the user asked for"};
  if (rules_.line.fires(sure, doubt, verdict)) fire(run, said, asked, told, sure, verdict);
}

void LearnedDeeds::fire(const RunView& run, const AgentMessage& said, const Likely& asked, const Likely& told, double sure,
                        Verdict& verdict) {
  Request wanted;
  wanted.verb = asked.verb != kNoVerb ? asked.verb : told.verb != kNoVerb ? told.verb : rules_.finish_verb;
  wanted.step = asked.step;
  wanted.turn = asked.text;
  verdict.fire(asked_deeds_.finding(run, wanted, said, scene_.ran.any ? AskedDeeds::kNoWriteScore : AskedDeeds::kNoToolScore), sure);
}

}  // namespace runwarden::plugins
