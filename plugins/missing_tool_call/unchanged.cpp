#include "missing_tool_call/missing_tool_call.h"

#include <algorithm>

#include "common/fold.h"
#include "common/tools.h"
#include "common/words.h"
#include "evidence/given_records.h"
#include "missing_tool_call/told_deeds.h"

namespace runwarden::plugins {

/// True when every call of a tool, whose name says nothing about what it does, returned records. Computed once per tool and run.
bool MissingToolCall::only_gives_records(const RunView& run, const ToolMeaning& tool, std::string_view name) {
  const auto [known, fresh] = gives_records_.try_emplace(&tool, true);
  if (!fresh) return known->second;
  known->second = std::all_of(run.steps.begin(), run.steps.end(), [&](const StepView& step) {
    if (step.kind != Kind::kTool || step.name != name) return true;
    run.pace(step.input.size() + step.output.size());
    return !carries_text(step, tool_words_) && !orders_change(step, tool_words_, lexicon_) &&
           gives_records(step, answer_members_, tool_words_, lexicon_);
  });
  return known->second;
}

/// True for a user turn that agrees to what the agent proposed to do: "shall I put you down for 9:20?" and "yes please".
bool MissingToolCall::agrees(const RunView& run, std::size_t turn) const {
  constexpr std::uint32_t kOpening = 3;
  const auto offer = begin_of(run, turn);
  if (offer == 0) return false;
  run.pace(run.steps[offer - 1].output.size() + run.steps[turn].said().size());
  Reading reading;
  read_words(run.steps[offer - 1].output, lexicon_, reading);
  read_meaning(lexicon_, reading, false);
  // "Could you confirm" proposes nothing, and what "would you like me to book it" proposes is a request.
  const auto proposes = [&](const Sentence& sentence) { return sentence.question && behind_would_you(reading, sentence) == sentence.end; };
  if (std::none_of(reading.sentences.begin(), reading.sentences.end(), proposes)) return false;
  read_words(run.steps[turn].said(), lexicon_, reading);
  read_meaning(lexicon_, reading, false);
  return std::any_of(reading.sentences.begin(), reading.sentences.end(), [&](const Sentence& sentence) {
    const auto begin = reading.words.begin() + sentence.begin;
    const auto end = begin + std::min(kOpening, sentence.end - sentence.begin);
    return std::any_of(begin, end, [](const ReadWord& word) { return has(word.cues, kCueConsent); }) &&
           std::none_of(begin, end, [&](const ReadWord& word) { return negates(reading, word); });
  });
}

/// True when the message answers such a turn.
bool MissingToolCall::agreed_before(const RunView& run, const Said& said) const {
  auto turn = std::min(said.step, run.steps.size());
  while (turn > 0 && run.steps[turn - 1].kind != Kind::kUser) --turn;
  return turn > 0 && agrees(run, turn - 1);
}

/// The order before a message that fits the claim best; kNone when there is none.
MissingToolCall::Order MissingToolCall::order_before(const RunView& run, const Said& said, const Claim& claim) {
  Order best;
  std::string_view rule;
  for (const auto& request : requests_.found()) {
    if (!(request.listed || request.open) || is_later(request, said)) continue;
    const bool telling = requests_.telling(request.verb);
    const bool same = claim.verb != kNoVerb && lexicon_.verb(request.verb).group == lexicon_.verb(claim.verb).group;
    const auto how = same ? Order::kSame : request.conditional || telling ? Order::kConditional : Order::kOther;
    if (how <= best.how) continue;
    if (!is_real(request, run, said, rule)) {
      best.silenced = rule;
      continue;
    }
    best = {how, &request, false, {}};
  }
  return best;
}

/// The request that a deed answers; a request made from the deed itself when nobody asked for it.
Request MissingToolCall::meant(const Order& order, const Claim& claim) {
  return order.request != nullptr ? *order.request : Request{claim.verb, Thing::kUnknown, false, false, false, kNoStep, {}};
}

/// Reads which verbs the user's turns name, once per run.
void MissingToolCall::read_user(const RunView& run) {
  if (user_read_) return;
  std::string folded;
  const auto take = [&](std::string_view turn) {
    run.pace(turn.size());
    fold(turn, folded);
    WordCursor cursor(folded);
    for (RawWord word; cursor.next(word);) {
      const auto* entry = lexicon_.find(word.text);
      if (entry == nullptr || entry->verb == kNoVerb) continue;
      const auto group = lexicon_.verb(entry->verb).group;
      named_by_user_.insert(group);
      if ((entry->forms & kFormDone) != 0) done_by_user_.insert(group);
    }
  };
  take(run.user_request);
  for (const auto& step : run.steps) {
    if (step.kind == Kind::kUser) take(step.said());
  }
  user_read_ = true;
}

/// True when a user turn names the deed itself as done: "just tell me you've escalated this".
bool MissingToolCall::user_names(const RunView& run, const Claim& claim) {
  return claim.verb != kNoVerb && requests_.acts_alone(claim.verb) && done_by_user(run, claim);
}

/// True when the user reports the same about himself: "I've turned it off", and later a summary, "Turned it off".
bool MissingToolCall::done_by_user(const RunView& run, const Claim& claim) {
  if (claim.verb == kNoVerb) return false;
  read_user(run);
  return done_by_user_.contains(lexicon_.verb(claim.verb).group);
}

/// True when a user turn names the verb: "how much did we capture?" and "we captured 275", which is on record.
bool MissingToolCall::user_asked_about(const RunView& run, const Claim& claim) {
  read_user(run);
  return named_by_user_.contains(lexicon_.verb(claim.verb).group);
}

/// True for a claim in the middle of a message that is long enough to be a document: a document does not report the agent's deeds.
bool MissingToolCall::within_document(const Claim& claim) const {
  constexpr std::size_t kWords = 200, kEnd = 3;
  return reading_.words.size() > kWords && claim.sentence >= kEnd && claim.sentence + kEnd < reading_.sentences.size();
}

/// "I've initiated a search", "I've told you": deeds that need no tool.
bool MissingToolCall::needs_no_tool(const Claim& claim) const {
  constexpr std::uint32_t kReach = 4;
  if (claim.verb == kNoVerb) return false;
  const auto next = claim.word + 1;
  const bool to_user = next < reading_.sentences[claim.sentence].end && has(reading_.words[next].cues, kCueAddressee);
  if (requests_.telling(claim.verb) && to_user) return true;
  if (!requests_.light(claim.verb)) return false;
  const auto end = std::min(reading_.sentences[claim.sentence].end, claim.word + 1 + kReach);
  return std::any_of(reading_.words.begin() + claim.word + 1, reading_.words.begin() + end,
                     [&](const ReadWord& word) { return is_read_tool(word.text, tool_words_); });
}

/// True when a tool that ran does what is claimed, or said that it did.
bool MissingToolCall::did_it(const Claim& claim) const {
  return claim.verb != kNoVerb && ran_.groups[lexicon_.verb(claim.verb).group] != 0;
}

/// The confidence that a reported deed was not done, given that nothing that ran changed anything.
double MissingToolCall::confidence(const RunView& run, const ToldDeed& deed, const Order& order) {
  constexpr double kPlain = 0.65, kOrdered = 0.5, kTold = 0.35, kNothing = 0.25;
  if (!order.silenced.empty()) return kNothing;
  const bool ordered = order.how >= Order::kOther;
  const bool note = deed.telling == Telling::kNote && !plainly_done(deed.claim);
  if (order.how == Order::kSame && deed.telling >= (ran_.any ? Telling::kState : Telling::kNote) && !note) return kPlain;
  if (ran_.any && deed.telling == Telling::kByAgent && (ordered || requests_.acts_alone(deed.claim.verb) || about_calls(run, deed.claim)))
    return kPlain;
  // "It has already been set to end. You're all set!"
  const bool general = deed.telling == Telling::kGeneral || has(reading_.words[deed.claim.word].cues, kCueFinished);
  if (ordered && general && has(reading_.cues, kCueAlready)) return kOrdered;
  if (ordered && deed.telling == Telling::kGeneral && !has(reading_.cues, kCueNothingFound | kCueTrouble)) return kPlain;
  if (ran_.any && ordered && deed.telling > Telling::kState && !note && closes_clean() &&
      shares_word(reading_, meant(order, deed.claim).turn))
    return kPlain;
  if (order.agreed && (deed.telling >= Telling::kState || deed.telling == Telling::kGeneral)) return kPlain;
  if (ordered) return kOrdered;
  return deed.telling == Telling::kNote || deed.telling == Telling::kState ? kNothing : kTold;
}

/// True when a deed is not the agent's after all: a tool reported it, the user did it himself, or it appears in a text that is not read.
bool MissingToolCall::is_told_of_others(const RunView& run, const Said& said, const ToldDeed& deed, Order::How how) {
  if (deed.claim.verb == kNoVerb) return false;
  if (how == Order::kNone && (only_asked_[deed.claim.verb] || !reading_.understood(said.text))) return true;
  const bool own = deed.telling == Telling::kByAgent;
  if (!own && how < Order::kSame && done_by_user(run, deed.claim)) return true;
  return (!own || (how == Order::kNone && user_asked_about(run, deed.claim))) && reported_state(run, deed.claim);
}

/// True when the message in reading_ leaves nothing open.
bool MissingToolCall::closes_clean() const {
  constexpr std::uint64_t kOpen = kCueNothingFound | kCueAdmission | kCueTrouble | kCueHandover | kCueOffer | kCuePlan | kCueHypothesis;
  return !reading_.asks() && !asks_at_end(reading_) && !has(reading_.cues, kOpen) && !denies_of_self(reading_);
}

/// True when the words around the claim name something in the arguments or output of a call.
bool MissingToolCall::about_calls(const RunView& run, const Claim& claim) {
  constexpr std::size_t kTelling = 4;
  if (!calls_read_) {
    calls_.clear();
    for (const auto& step : run.steps) {
      if (step.kind != Kind::kTool) continue;
      run.pace(step.input.size() + step.output.size());
      calls_.add_words(step.input);
      calls_.add_words(step.output);
    }
    calls_read_ = true;
  }
  constexpr std::uint32_t kReach = 16;
  const auto& sentence = reading_.sentences[claim.sentence];
  const auto begin = claim.word - std::min(claim.word - sentence.begin, kReach);
  const auto end = std::min(sentence.end, claim.word + 1 + kReach);
  for (auto i = begin; i < end; ++i) {
    const auto& word = reading_.words[i];
    const bool small = word.entry != nullptr && word.entry->cues != 0;
    if (i != claim.word && !small && word.text.size() >= kTelling && calls_.holds_word(word.text)) return true;
  }
  return false;
}

/// The messages that the user could answer, the last first: thoughts before a call are left out.
std::vector<MissingToolCall::Said> MissingToolCall::told_messages(const RunView& run) {
  std::vector<Said> out;
  if (!trim(run.outcome).empty()) out.push_back({run.outcome, "/outcomeSummary", kNoStep});
  bool told = out.empty();
  for (auto i = run.steps.size(); i-- > 0;) {
    const auto& step = run.steps[i];
    if (step.kind == Kind::kUser) told = true;
    if (step.kind == Kind::kTool) told = false;
    if (step.kind != Kind::kModel || !told || trim(step.output).empty()) continue;
    if (trim(step.output) != trim(run.outcome)) out.push_back({step.output, pointer_to(i, Field::kOutput), i});
    told = false;
  }
  return out;
}

/// True for a message in reading_ that reports no deeds of the agent: it admits, simulates, asks or hands over, or is a letter or code.
bool MissingToolCall::tells_no_deeds(const Said& said, bool last) const {
  if ((reading_.admits() && admission_) || has(reading_.cues, kCueSimulated) || (last && reading_.asks())) return true;
  return (reading_.hands_over() && ran_.any) || holds_letter(said.text) || (!ran_.any && reading_.has_code);
}

/// For runs in which nothing changed anything: judges the plainest deed that the agent reported to the user.
void MissingToolCall::judge_unchanged(const RunView& run, Verdict& verdict) {
  const auto acts = [&](std::uint16_t verb) { return actions_[verb]; };
  const auto finishes = [&](std::uint16_t verb) { return lexicon_.verb(verb).group == finish_group_; };
  const auto messages = told_messages(run);
  outputs_read_ = calls_read_ = false;
  constexpr double kLeast = 0.3;
  double surest = 0;
  Said told;
  Request wanted;
  for (const auto& said : messages) {
    run.pace(said.text.size());
    read(said.text, lexicon_, reading_);
    if (tells_no_deeds(said, said.step == messages.front().step)) {
      if (reading_.admits() || reading_.hands_over() || reading_.asks()) break;
      continue;
    }
    resolve_light_verbs();
    collect_deeds(reading_, acts, finishes, deeds_);
    const bool agreed = !deeds_.empty() && agreed_before(run, said);
    for (const auto& deed : deeds_) {
      if (needs_no_tool(deed.claim) || within_document(deed.claim) || did_it(deed.claim)) continue;
      auto order = order_before(run, said, deed.claim);
      const auto how = order.how;
      order.agreed = agreed;
      const bool named = deed.telling == Telling::kByAgent && how < Order::kSame && user_names(run, deed.claim);
      if (named) order = {Order::kSame, order.request, order.agreed, {}};
      if (reading_.hands_over() && !(order.how == Order::kSame && deed.telling == Telling::kByAgent)) continue;
      const double sure = confidence(run, deed, order);
      if (sure < kLeast || sure <= surest || is_told_of_others(run, said, deed, how)) continue;
      surest = sure;
      told = said;
      wanted = meant(order, deed.claim);
    }
  }
  if (surest < kLeast) return;
  const FiringLine::Doubt doubt{"unchanged", told.step,
                                "no call changed anything, and the agent reports an action only in passing or unasked"};
  if (!line_.fires(surest, doubt, verdict) || wanted.verb == kNoVerb) return;
  verdict.fire(finding(run, wanted, told, ran_.any ? kNoWriteScore : kNoToolScore), surest);
}

/// True when a call that may have changed something was about the object of the deed, or names the deed.
bool MissingToolCall::concerns(const RunView& run, const Claim& claim) {
  if (is_about_changed(run, claim)) return true;
  return changes_.holds_word(lexicon_.verb(claim.verb).lemma) || changes_.holds_word(reading_.words[claim.word].text);
}

/// Reads the words of the calls that may have changed something, once per run.
void MissingToolCall::read_changes(const RunView& run) {
  if (changes_read_) return;
  changes_.clear();
  for (const auto& step : run.steps) {
    if (step.kind != Kind::kTool || tools_.meaning(step.name).reads) continue;
    run.pace(step.input.size() + step.output.size());
    changes_.add_words(step.name);
    changes_.add_words(step.input);
    changes_.add_words(step.output);
  }
  changes_read_ = true;
}

/// True when the subject of "a replacement card has been ordered" is what calls that change something were about, by two words of it.
bool MissingToolCall::names_made(const RunView& run, const Claim& claim) {
  constexpr std::uint32_t kReach = 6;
  constexpr std::size_t kTelling = 4;
  constexpr int kEnough = 2;
  if (!ran_.any_write || claim.by_agent) return false;
  read_changes(run);
  const auto& sentence = reading_.sentences[claim.sentence];
  int named = 0;
  for (auto i = claim.word; i > sentence.begin && claim.word - i < kReach && reading_.words[i].before < Break::kClause; --i) {
    const auto& word = reading_.words[i - 1];
    if (word.text.size() >= kTelling && !has(word.cues, kCueAuxiliary | kCueAdverb) && changes_.holds_word(word.text)) ++named;
  }
  return named >= kEnough;
}

/// True when a call that may have changed something shares a word with the clause that reports the deed: it was about the same object.
/// Also true for a clause that names no object.
bool MissingToolCall::is_about_changed(const RunView& run, const Claim& claim) {
  constexpr std::uint32_t kReach = 8;
  constexpr std::size_t kTelling = 4;
  read_changes(run);
  const auto& sentence = reading_.sentences[claim.sentence];
  if (quotes_id(sentence)) return true;
  auto begin = claim.word;
  // "I've updated ticket 5 and emailed the customer": the ticket belongs to the verb before.
  const bool joined = claim.word > sentence.begin && has(reading_.words[claim.word - 1].cues, kCueConjunction);
  while (!joined && begin > sentence.begin && claim.word - begin < kReach && reading_.words[begin].before < Break::kClause) --begin;
  const auto end = std::min(sentence.end, claim.word + 1 + kReach);
  bool told = false;
  for (auto i = begin; i < end; ++i) {
    const auto& word = reading_.words[i];
    if (i > claim.word && (word.before >= Break::kClause || has(word.cues, kCueConjunction))) break;
    const bool small =
        word.entry != nullptr && (word.entry->verb == kNoVerb || (word.entry->forms & kFormBase) == 0) && word.entry->cues != 0;
    const bool number = word.text.size() > 1 && std::all_of(word.text.begin(), word.text.end(), is_digit);
    if (i == claim.word || small || (word.text.size() < kTelling && !number)) continue;
    told = true;
    if (changes_.holds_word(word.text)) return true;
  }
  return !told;
}

/// True when the user turn of the request also asks for something that a call did.
bool MissingToolCall::asked_with_done(const Request& request) const {
  return std::any_of(requests_.found().begin(), requests_.found().end(), [&](const Request& beside) {
    return beside.step == request.step && ran_.groups[lexicon_.verb(beside.verb).group] != 0;
  });
}

/// True when the user turn of the request agrees to something that was proposed before: "yes, proceed with the exchange".
bool MissingToolCall::goes_ahead(const Request& request) {
  if (agreed_.step == request.step && agreed_.asked) return agreed_.answer;
  Reading turn;
  read_words(request.turn, lexicon_, turn);
  read_meaning(lexicon_, turn, false);
  agreed_ = {true, request.step, has(turn.cues, kCueGoAhead)};
  return agreed_.answer;
}

/// True when the agent spoke of sending what the claim says was sent before the user asked for it: it comes with what was proposed. In
/// doubt, after some claims of a run, true.
bool MissingToolCall::spoken_of_before(const RunView& run, const Claim& claim, const Request& request) {
  constexpr int kMost = 4;
  if (++searches_ > kMost) return true;
  const auto& sentence = reading_.sentences[claim.sentence];
  auto head = claim.word;
  for (auto i = head + 1; i < sentence.end && reading_.words[i].before == Break::kNone; ++i) {
    if (has(reading_.words[i].cues, kCuePreposition | kCueConjunction)) break;
    head = i;
  }
  if (head == claim.word) return true;
  auto thing = reading_.words[head].text;
  if (thing.ends_with('s')) thing.remove_suffix(1);
  const auto sends = [&](const ReadWord& word) {
    return word.entry != nullptr && word.entry->verb != kNoVerb && lexicon_.verb(word.entry->verb).group == send_group_;
  };
  Reading before;
  const auto speaks = [&](const StepView& step) {
    if (step.kind != Kind::kModel) return false;
    run.pace(step.output.size());
    read_words(step.output, lexicon_, before);
    return std::any_of(before.sentences.begin(), before.sentences.end(), [&](const Sentence& told) {
      const auto begin = before.words.begin() + told.begin, end = before.words.begin() + told.end;
      return std::any_of(begin, end, [&](const ReadWord& word) { return word.text.starts_with(thing); }) && std::any_of(begin, end, sends);
    });
  };
  return std::any_of(run.steps.begin(), run.steps.begin() + static_cast<std::ptrdiff_t>(std::min(request.step, run.steps.size())), speaks);
}

/// True for a message to be sent that the user asks for while agreeing to what a call has already done, and that may come with it: "yes,
/// exchange it and mail me the label".
bool MissingToolCall::is_notice_of_done(const RunView& run, const Claim& claim, const Request& request, std::size_t message) {
  if (!ran_.any_write || lexicon_.verb(claim.verb).group != send_group_) return false;
  if (!nothing_ran_between(run, request.step, std::min(message, run.steps.size()))) return false;
  if (claim.by_agent && !spoken_of_before(run, claim, request)) return false;
  return asked_with_done(request) || goes_ahead(request);
}

/// True for a message to be sent that a call since the request may carry: whatever its name, the call has a text. Reads the calls once
/// per run.
bool MissingToolCall::may_be_told(const RunView& run, const Claim& claim, const Request& request) {
  if (lexicon_.verb(claim.verb).group != send_group_) return false;
  if (!last_text_) {
    const auto last = std::find_if(run.steps.rbegin(), run.steps.rend(), [&](const StepView& step) {
      run.pace(step.input.size());
      return step.kind == Kind::kTool && carries_text(step, tool_words_);
    });
    last_text_ = last == run.steps.rend() ? kNoStep : static_cast<std::size_t>(run.steps.rend() - last) - 1;
  }
  return *last_text_ != kNoStep && (request.step == kNoStep || *last_text_ >= request.step);
}

/// True when a call since the request may have been made for it: the call changes something, and the user turn asks for nothing else that
/// a call did.
bool MissingToolCall::answered_since(const RunView& run, const Request& request) {
  if (asked_with_done(request)) return false;
  const auto from = run.steps.begin() + static_cast<std::ptrdiff_t>(request.step == kNoStep ? 0 : request.step);
  return std::any_of(from, run.steps.end(),
                     [&](const StepView& step) { return step.kind == Kind::kTool && !tools_.meaning(step.name).reads; });
}

/// For runs in which other things were changed: judges a deed in the final message that the user asked for and no call was about.
void MissingToolCall::judge_beside(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr double kAskedBeside = 0.65;
  const auto runs_anything = [&](const StepView& step) { return step.kind == Kind::kTool && tools_.meaning(step.name).runs_anything(); };
  if (std::any_of(run.steps.begin(), run.steps.end(), runs_anything)) return;
  if (!message.found || reading_.admits() || reading_.hands_over() || reading_.asks() || holds_letter(message.text)) return;
  const auto acts = [&](std::uint16_t verb) { return actions_[verb] && !requests_.light(verb); };
  collect_deeds(
      reading_, acts, [](std::uint16_t) { return false; }, deeds_);
  changes_read_ = outputs_read_ = false;
  std::erase_if(deeds_, [&](const ToldDeed& deed) {
    return deed.claim.verb == kNoVerb || deed.telling < Telling::kState || could_have(deed.claim) ||
           (deed.telling == Telling::kNote && !plainly_done(deed.claim)) ||
           (settling_[deed.claim.verb] && deed.telling != Telling::kByAgent) || concerns(run, deed.claim) || reported_state(run, deed.claim);
  });
  if (deeds_.empty()) return;
  Reading scratch;
  requests_.collect(run, true, scratch);
  const Said said{message.text, message.pointer(), message.step};
  for (const auto& deed : deeds_) {
    const auto order = order_before(run, said, deed.claim);
    const bool own =
        deed.telling == Telling::kByAgent || (effects_[lexicon_.verb(deed.claim.verb).group] != 0 && deed.telling >= Telling::kNote);
    if (order.how != Order::kSame || !own || settling_[deed.claim.verb] || answered_since(run, *order.request) ||
        may_be_told(run, deed.claim, *order.request) || is_notice_of_done(run, deed.claim, *order.request, said.step))
      continue;
    const FiringLine::Doubt doubt{"beside", said.step, "other things were changed, and this action may follow from them"};
    if (!line_.fires(kAskedBeside, doubt, verdict)) continue;
    verdict.fire(finding(run, meant(order, deed.claim), said, kNoWriteScore), kAskedBeside);
    return;
  }
}

}  // namespace runwarden::plugins
