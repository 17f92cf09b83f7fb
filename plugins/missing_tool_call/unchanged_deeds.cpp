#include "missing_tool_call/unchanged_deeds.h"

#include <algorithm>

#include "common/words.h"
#include "missing_tool_call/told_deeds.h"
#include "text/fold.h"

namespace runwarden::plugins {

/// True for a claim in the middle of a message that is long enough to be a document: a document does not report the agent's deeds.
bool UnchangedDeeds::within_document(const Claim& claim) const {
  constexpr std::size_t kWords = 200, kEnd = 3;
  return scene_.reading.words.size() > kWords && claim.sentence >= kEnd && claim.sentence + kEnd < scene_.reading.sentences.size();
}

/// The confidence that a reported deed was not done, given that nothing that ran changed anything.
double UnchangedDeeds::confidence(const RunView& run, const ToldDeed& deed, const Order& order) {
  constexpr double kPlain = 0.65, kOrdered = 0.5, kTold = 0.35, kNothing = 0.25;
  if (!order.silenced.empty() || (deed.claim.result && order.match != Order::kSame)) return kNothing;
  const bool ordered = order.match >= Order::kOther;
  const bool note = deed.telling == Telling::kNote && !plainly_done(scene_.reading, deed.claim);
  if (order.match == Order::kSame && deed.telling >= (scene_.ran.any ? Telling::kState : Telling::kNote) && !note) return kPlain;
  if (scene_.ran.any && deed.telling == Telling::kByAgent &&
      (ordered || scene_.requests.acts_alone(deed.claim.verb) || call_words_.about_calls(run, deed.claim)))
    return kPlain;
  // "It has already been set to end. You're all set!"
  const bool general = deed.telling == Telling::kGeneral || has(scene_.reading.words[deed.claim.word].cues, kCueFinished);
  if (ordered && general && has(scene_.reading.cues, kCueAlready)) return kOrdered;
  if (ordered && deed.telling == Telling::kGeneral && !tells_trouble_from(deed.claim.sentence)) return kPlain;
  if (scene_.ran.any && ordered && deed.telling > Telling::kState && !note && closes_clean() &&
      shares_word(scene_.reading, asked_deeds_.meant(order, deed.claim).turn))
    return kPlain;
  if (order.agreed && (deed.telling >= Telling::kState || deed.telling == Telling::kGeneral)) return kPlain;
  if (ordered) return kOrdered;
  return deed.telling == Telling::kNote || deed.telling == Telling::kState ? kNothing : kTold;
}

/// True when a deed is not the agent's after all: a tool reported it, the user did it himself, or it appears in a text that is not read.
bool UnchangedDeeds::is_told_of_others(const RunView& run, const AgentMessage& said, const ToldDeed& deed, Order::Match match) {
  if (deed.claim.verb == kNoVerb) return false;
  if (match == Order::kNone && (rules_.only_asked[deed.claim.verb] || !scene_.reading.understood(said.text))) return true;
  const bool own = deed.telling == Telling::kByAgent;
  if (!own && match < Order::kSame && asked_deeds_.done_by_user(run, deed.claim)) return true;
  return (!own || (match == Order::kNone && asked_deeds_.user_asked_about(run, deed.claim))) && call_words_.reported_state(run, deed.claim);
}

/// True when the message in scene_.reading tells of trouble in a sentence or behind it. "I'm sorry about that" before it is courtesy.
bool UnchangedDeeds::tells_trouble_from(std::uint32_t sentence) const {
  if (has(scene_.reading.cues, kCueNothingFound)) return true;
  return std::any_of(scene_.reading.sentences.begin() + sentence, scene_.reading.sentences.end(),
                     [](const Sentence& told) { return has(told.cues, kCueTrouble); });
}

/// True when the message in scene_.reading leaves nothing open.
bool UnchangedDeeds::closes_clean() const {
  constexpr std::uint64_t kOpen = kCueNothingFound | kCueAdmission | kCueTrouble | kCueHandover | kCueOffer | kCuePlan | kCueHypothesis;
  return !scene_.reading.asks() && !asks_at_end(scene_.reading) && !has(scene_.reading.cues, kOpen) && !denies_of_self(scene_.reading);
}

bool UnchangedDeeds::tells_no_deeds(const AgentMessage& said, bool last) const {
  if ((scene_.reading.admits() && rules_.admission) || has(scene_.reading.cues, kCueSimulated) ||
      (last && (scene_.reading.asks() || asks_at_end(scene_.reading))))
    return true;
  return holds_letter(said.text) || (!scene_.ran.any && scene_.reading.has_code);
}

void UnchangedDeeds::judge(const RunView& run, Verdict& verdict) {
  judge_from(run, 0, Telling::kGeneral, verdict);
}

void UnchangedDeeds::judge_exchange(const RunView& run, std::size_t from, Verdict& verdict) {
  judge_from(run, from, Telling::kState, verdict);
}

/// Judges the messages from step `from` on, and in them what is told at least so plainly.
void UnchangedDeeds::judge_from(const RunView& run, std::size_t from, Telling least, Verdict& verdict) {
  const auto acts = [&](std::uint16_t verb) { return scene_.actions[verb]; };
  const auto finishes = [&](std::uint16_t verb) { return rules_.lexicon.verb(verb).group == rules_.finish_group; };
  const auto messages = told_messages(run);
  scene_.outputs_read = scene_.calls_read = false;
  constexpr double kLeast = 0.3;
  double surest = 0;
  AgentMessage told;
  Request wanted;
  for (const auto& message : messages) {
    const auto said = said_in(message);
    if (said.step < from) break;
    run.pace(said.text.size());
    read(said.text, rules_.lexicon, scene_.reading);
    if (tells_no_deeds(said, said.step == messages.front().step)) {
      if (scene_.reading.admits() || scene_.reading.hands_over() || scene_.reading.asks()) break;
      continue;
    }
    asked_deeds_.resolve_light_verbs();
    collect_deeds(scene_.reading, acts, finishes, scene_.deeds);
    const bool agreed = !scene_.deeds.empty() && asked_deeds_.agreed_before(run, said);
    for (const auto& deed : scene_.deeds) {
      const bool general = deed.telling == Telling::kGeneral || has(scene_.reading.words[deed.claim.word].cues, kCueFinished);
      if (deed.telling < least || (general && least > Telling::kGeneral) || asked_deeds_.needs_no_tool(deed.claim) ||
          within_document(deed.claim) || tools_ran_.did_it(deed.claim))
        continue;
      auto order = asked_deeds_.order_before(run, said, deed.claim);
      const auto match = order.match;
      order.agreed = agreed;
      const bool played = !scene_.ran.any && scene_.requests.make_believe(run);
      if (match < Order::kSame && (played || asked_deeds_.in_given_text(run, deed.claim))) continue;
      const bool named = deed.telling == Telling::kByAgent && match < Order::kSame && asked_deeds_.user_names(run, deed.claim);
      if (named) order = {Order::kSame, order.request, order.agreed, {}};
      // What was asked for may be the handover itself: "You are being transferred."
      const bool handover = has(scene_.reading.sentences[deed.claim.sentence].cues, kCueHandover);
      if (scene_.reading.hands_over() && !(order.match == Order::kSame && (handover || deed.telling == Telling::kByAgent))) continue;
      const double sure = confidence(run, deed, order);
      if (sure < kLeast || sure <= surest || is_told_of_others(run, said, deed, match)) continue;
      const auto meant = asked_deeds_.meant(order, deed.claim);
      if (asked_deeds_.is_taken_back(run, said.step, meant.verb)) continue;
      surest = sure;
      told = said;
      wanted = meant;
    }
  }
  if (surest < kLeast) return;
  const FiringLine::Doubt doubt{"unchanged", told.step,
                                "no call changed anything, and the agent reports an action only in passing or unasked"};
  if (!rules_.line.fires(surest, doubt, verdict) || wanted.verb == kNoVerb) return;
  verdict.fire(asked_deeds_.finding(run, wanted, told, scene_.ran.any ? AskedDeeds::kNoWriteScore : AskedDeeds::kNoToolScore), surest);
}

}  // namespace runwarden::plugins
