#include "missing_tool_call/deeds_beside.h"

#include <algorithm>

#include "common/words.h"
#include "evidence/given_records.h"
#include "missing_tool_call/told_deeds.h"

namespace runwarden::plugins {

bool DeedsBeside::sends(const Claim& claim) const {
  return rules_.lexicon.verb(claim.verb).group == rules_.send_group;
}

/// True when the user turn of the request agrees to something that was proposed before: "yes, proceed with the exchange".
bool DeedsBeside::goes_ahead(const Request& request) {
  if (scene_.agreed.step == request.step && scene_.agreed.asked) return scene_.agreed.answer;
  Reading turn;
  read_words(request.turn, rules_.lexicon, turn);
  read_meaning(rules_.lexicon, turn, false);
  scene_.agreed = {true, request.step, has(turn.cues, kCueGoAhead)};
  return scene_.agreed.answer;
}

/// True when the agent spoke of sending what the claim says was sent before the user asked for it: it comes with what was proposed. In
/// doubt, after some claims of a run, true.
bool DeedsBeside::spoken_of_before(const RunView& run, const Claim& claim, const Request& request) {
  constexpr int kMost = 4;
  if (++scene_.searches > kMost) return true;
  const auto& sentence = scene_.reading.sentences[claim.sentence];
  auto head = claim.word;
  for (auto i = head + 1; i < sentence.end && scene_.reading.words[i].before == Break::kNone; ++i) {
    if (has(scene_.reading.words[i].cues, kCuePreposition | kCueConjunction)) break;
    head = i;
  }
  if (head == claim.word) return true;
  auto thing = scene_.reading.words[head].text;
  if (thing.ends_with('s')) thing.remove_suffix(1);
  const auto sends = [&](const ReadWord& word) {
    return word.entry != nullptr && word.entry->verb != kNoVerb && rules_.lexicon.verb(word.entry->verb).group == rules_.send_group;
  };
  Reading before;
  const auto speaks = [&](const StepView& step) {
    if (step.kind != Kind::kModel) return false;
    run.pace(step.output.size());
    read_words(step.output, rules_.lexicon, before);
    return std::any_of(before.sentences.begin(), before.sentences.end(), [&](const Sentence& told) {
      const auto begin = before.words.begin() + told.begin, end = before.words.begin() + told.end;
      return std::any_of(begin, end, [&](const ReadWord& word) { return word.text.starts_with(thing); }) && std::any_of(begin, end, sends);
    });
  };
  return std::any_of(run.steps.begin(), run.steps.begin() + static_cast<std::ptrdiff_t>(std::min(request.step, run.steps.size())), speaks);
}

bool DeedsBeside::is_notice_of_done(const RunView& run, const Claim& claim, const Request& request, std::size_t message) {
  if (!scene_.ran.any_write || !sends(claim)) return false;
  if (!tools_ran_.nothing_ran_between(run, request.step, std::min(message, run.steps.size()))) return false;
  if (claim.by_agent && !spoken_of_before(run, claim, request)) return false;
  return tools_ran_.asked_with_done(request) || goes_ahead(request);
}

bool DeedsBeside::may_be_told(const RunView& run, const Claim& claim, const Request& request) {
  if (!sends(claim)) return false;
  if (!scene_.last_text) {
    const auto last = std::find_if(run.steps.rbegin(), run.steps.rend(), [&](const StepView& step) {
      run.pace(step.input.size());
      return step.kind == Kind::kTool && carries_text(step, rules_.tool_words);
    });
    scene_.last_text = last == run.steps.rend() ? kNoStep : static_cast<std::size_t>(run.steps.rend() - last) - 1;
  }
  return *scene_.last_text != kNoStep && (request.step == kNoStep || *scene_.last_text >= request.step);
}

/// True when a call since the request may have been made for it: the call changes something, the user turn asks for nothing else that a
/// call did, and the message tells of no deed that the call was for.
bool DeedsBeside::answered_since(const RunView& run, const Request& request) {
  if (tools_ran_.asked_with_done(request)) return false;
  if (!last_untold_) last_untold_ = last_untold(run);
  return *last_untold_ != kNoStep && (request.step == kNoStep || *last_untold_ >= request.step);
}

/// The last call that may have changed something, and did nothing that the message tells of; kNoStep when there is none.
std::size_t DeedsBeside::last_untold(const RunView& run) {
  const auto told = [&](std::uint16_t group) { return told_[group] != 0; };
  for (auto i = run.steps.size(); i-- > 0;) {
    if (scene_.ran.may_change[i] == 0) continue;
    const auto& groups = scene_.tools.meaning(run.steps[i].name).groups;
    if (std::none_of(groups.begin(), groups.end(), told)) return i;
  }
  return kNoStep;
}

/// True when a tool ran that may have done anything: a shell, a browser.
bool DeedsBeside::ran_anything(const RunView& run) {
  return std::any_of(run.steps.begin(), run.steps.end(),
                     [&](const StepView& step) { return step.kind == Kind::kTool && scene_.tools.meaning(step.name).runs_anything(); });
}

void DeedsBeside::judge(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  if (!message.found || scene_.reading.hands_over() || ran_anything(run)) return;
  scene_.changes_read = scene_.outputs_read = false;
  judge_message(run, said_in(message), verdict);
}

void DeedsBeside::judge_earlier(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr int kMostMessages = 3;
  if (!message.found || ran_anything(run)) return;
  // Before the first change, the exchanges are judged by themselves.
  const auto& changes = scene_.ran.may_change;
  const auto first = static_cast<std::size_t>(std::find(changes.begin(), changes.end(), 1) - changes.begin());
  scene_.changes_read = scene_.outputs_read = false;
  int left = kMostMessages;
  for (const auto& told : told_messages(run)) {
    if (told.step >= std::min(message.step, run.steps.size())) continue;
    if (told.step < first) return;
    const auto said = said_in(told);
    if (left-- == 0 || !verdict.findings.empty()) return;
    run.pace(said.text.size());
    read(said.text, rules_.lexicon, scene_.reading);
    if (scene_.reading.admits()) return;
    if (!scene_.reading.hands_over()) judge_message(run, said, verdict);
  }
}

/// Notes the groups of what scene_.deeds tell as done. "Your transfer is set": the noun names the deed, too.
void DeedsBeside::mark_told() {
  constexpr std::uint32_t kSubject = 6;  // words before the verb
  told_.assign(scene_.ran.groups.size(), 0);
  last_untold_.reset();
  for (const auto& deed : scene_.deeds) {
    if (deed.claim.verb == kNoVerb || deed.telling < Telling::kState) continue;
    const auto& sentence = scene_.reading.sentences[deed.claim.sentence];
    const auto begin = deed.claim.word - std::min(deed.claim.word - sentence.begin, kSubject);
    for (auto i = begin; i <= deed.claim.word; ++i) {
      const auto* entry = scene_.reading.words[i].entry;
      if (entry != nullptr && entry->verb != kNoVerb) told_[rules_.lexicon.verb(entry->verb).group] = 1;
    }
  }
}

/// True for a deed that is told vaguely, that a call did or was about, or that follows from another by itself.
bool DeedsBeside::is_accounted_for(const RunView& run, const ToldDeed& deed) {
  return deed.claim.verb == kNoVerb || deed.telling < Telling::kState || tools_ran_.could_have(deed.claim) ||
         (deed.telling == Telling::kNote && !plainly_done(scene_.reading, deed.claim)) ||
         (rules_.settling[deed.claim.verb] && deed.telling != Telling::kByAgent) || call_words_.concerns(run, deed.claim) ||
         call_words_.reported_state(run, deed.claim);
}

/// True when the user asked for the very deed, the agent tells it as its own, and no call since may have been made for it.
bool DeedsBeside::is_left_out(const RunView& run, const AgentMessage& said, const ToldDeed& deed, const Order& order) {
  if (order.match != Order::kSame || rules_.settling[deed.claim.verb]) return false;
  const bool sent_by_itself = sends(deed.claim) && !scene_.requests.telling(order.request->verb);
  const bool own = deed.telling == Telling::kByAgent || (deed.telling == Telling::kPassive && !sent_by_itself) ||
                   (rules_.effects[rules_.lexicon.verb(deed.claim.verb).group] != 0 && deed.telling >= Telling::kNote);
  return own && !answered_since(run, *order.request) && !may_be_told(run, deed.claim, *order.request) &&
         !is_notice_of_done(run, deed.claim, *order.request, said.step) && !call_words_.names_thing(run, deed.claim);
}

/// Judges the deeds of the message in scene_.reading that the user asked for and no call was about.
void DeedsBeside::judge_message(const RunView& run, const AgentMessage& said, Verdict& verdict) {
  constexpr double kAskedBeside = 0.65;
  if (scene_.reading.admits() || scene_.reading.asks() || holds_letter(said.text)) return;
  const auto acts = [&](std::uint16_t verb) { return scene_.actions[verb] && !scene_.requests.light(verb); };
  collect_deeds(
      scene_.reading, acts, [](std::uint16_t) { return false; }, scene_.deeds);
  mark_told();
  std::erase_if(scene_.deeds, [&](const ToldDeed& deed) { return is_accounted_for(run, deed); });
  if (scene_.deeds.empty()) return;
  Reading scratch;
  scene_.requests.collect(run, {true, scene_.ran.any_write}, scratch);
  for (const auto& deed : scene_.deeds) {
    const auto order = asked_deeds_.order_before(run, said, deed.claim);
    if (!is_left_out(run, said, deed, order)) continue;
    const FiringLine::Doubt doubt{"beside", said.step, "other things were changed, and this action may follow from them"};
    if (!rules_.line.fires(kAskedBeside, doubt, verdict)) continue;
    verdict.fire(asked_deeds_.finding(run, asked_deeds_.meant(order, deed.claim), said, AskedDeeds::kNoWriteScore), kAskedBeside);
    return;
  }
}

}  // namespace runwarden::plugins
