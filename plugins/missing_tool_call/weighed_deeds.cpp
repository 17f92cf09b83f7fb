#include "missing_tool_call/weighed_deeds.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "common/tools.h"
#include "evidence/trees.h"
#include "missing_tool_call/told_deeds.h"
#include "missing_tool_call/weights.inc"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr double kMostApart = 3;       // deeds or wishes, and calls
constexpr double kPlainlyAsked = 0.5;  // below, the user may want a report
constexpr std::size_t kLoose = 1;      // ties of a call that may as well be for something else

}  // namespace

void WeighedDeeds::clear() {
  read_.clear();
  asked_.clear();
}

/// Adds what a user's turn asks for to the wishes. False for an empty turn.
bool WeighedDeeds::read_turn(const RunView& run, std::string_view turn, std::size_t step) {
  constexpr std::size_t kMost = 4096;  // bytes
  turn = turn.substr(0, kMost);
  if (trim(turn).empty()) return false;
  const auto [known, is_new] = asked_.try_emplace(step);
  if (is_new) {
    run.pace(turn.size());
    read_words(turn, rules_.lexicon, turn_);
    std::vector<Clause> asked;
    const auto asks_for_deed = [&](const Sentence& sentence) {
      return !is_arithmetic(turn_, sentence) && (scene_.ran.any || !learned_.may_be_done_by_any(run, turn_, sentence));
    };
    collect_asked(turn_, reader_, asks_for_deed, asked);
    for (auto& clause : asked) known->second.push_back({std::move(clause), turn, step});
  }
  for (const auto& wish : known->second) wishes_.push_back(&wish);
  return true;
}

/// Reads the first turn, and the last before a step.
void WeighedDeeds::read_turns(const RunView& run, std::size_t end) {
  constexpr std::size_t kMost = 6;
  wishes_.clear();
  turns_ = read_turn(run, run.user_request, kNoStep) ? 1 : 0;
  for (auto i = end; i-- > 0 && turns_ < kMost;) {
    if (run.steps[i].kind == Kind::kUser && read_turn(run, run.steps[i].said(), i)) ++turns_;
  }
}

const WeighedDeeds::Call& WeighedDeeds::call_at(const RunView& run, std::size_t at) {
  const auto [known, is_new] = read_.try_emplace(at);
  auto& call = known->second;
  if (!is_new) return call;
  const auto& step = run.steps[at];
  run.pace(step.input.size() + step.output.size());
  read_stems(step, scene_.tools.meaning(step.name), call);
  call.failed = step.outcome == Outcome::kFailed;
  call.doubtful = scene_.ran.may_change[at] == 0;
  return call;
}

bool WeighedDeeds::only_looks(const RunView& run, std::size_t call) {
  return scene_.ran.may_change[call] == 0 && scene_.tools.meaning(run.steps[call].name).reads;
}

/// True when a call before a step may have changed something: then it may have been for the only deed of a message.
bool WeighedDeeds::may_have_changed(const RunView& run, std::size_t end) {
  for (std::size_t i = 0; i < end; ++i) {
    if (run.steps[i].kind == Kind::kTool && !only_looks(run, i)) return true;
  }
  return false;
}

/// Reads the last calls before a step.
void WeighedDeeds::read_calls(const RunView& run, std::size_t end) {
  constexpr std::size_t kMost = 24;  // of those that may have changed something, and of the others
  calls_.clear();
  looked_up_.clear();
  std::size_t look_ups = 0;
  for (auto i = end; i-- > 0;) {
    if (run.steps[i].kind != Kind::kTool) continue;
    const bool looks = only_looks(run, i);
    if ((looks ? look_ups : calls_.size()) >= kMost) continue;
    const auto& call = call_at(run, i);
    if (!looks) {
      calls_.push_back(&call);
      continue;
    }
    ++look_ups;
    looked_up_.insert(looked_up_.end(), call.input.begin(), call.input.end());
    looked_up_.insert(looked_up_.end(), call.output.begin(), call.output.end());
  }
  settle(looked_up_);
}

void WeighedDeeds::compare_all() {
  ties_.clear();
  for (const auto* call : calls_) {
    for (const auto& deed : told_) ties_.push_back(count_ties(deed, *call));
  }
}

/// True when no user turn before a step asks plainly for a deed.
bool WeighedDeeds::may_want_report(const RunView& run, std::size_t end) {
  read_turns(run, end);
  return std::none_of(wishes_.begin(), wishes_.end(), [](const Wish* wish) { return wish->clause.sure >= kPlainlyAsked; });
}

bool WeighedDeeds::read_message(const RunView& run, const AgentMessage& said, std::size_t back) {
  told_.clear();
  back_ = back;
  const auto end = std::min(said.step, run.steps.size());
  const bool changed = may_have_changed(run, end);
  if (scene_.ran.any && !changed && may_want_report(run, end)) return false;
  run.pace(said.text.size());
  read(said.text, rules_.lexicon, scene_.reading);
  const auto& reading = scene_.reading;
  if (reading.admits() || reading.hands_over() || has(reading.cues, kCueSimulated) || holds_letter(said.text) ||
      !reading.understood(said.text))
    return false;
  collect_told(reading, reader_, told_);
  if (told_.empty() || (told_.size() == 1 && changed)) return false;
  read_turns(run, end);
  const auto counts = [&](const Clause& deed) { return is_likely(deed); };
  if (wishes_.empty() || std::none_of(told_.begin(), told_.end(), counts)) return false;
  read_calls(run, end);
  compare_all();
  return true;
}

/// What the user asked for that a deed answers best. Of several that do so equally, the first.
const WeighedDeeds::Wish& WeighedDeeds::wish_for(const Clause& deed) const {
  constexpr double kSameGroup = 0.8, kSure = 0.3;  // shared words
  const auto fit = [&](const Wish* wish) {
    return static_cast<double>(count_shared(deed.stems, wish->clause.stems)) +
           (share_group(deed.groups, wish->clause.groups) ? kSameGroup : 0) + kSure * wish->clause.sure;
  };
  return **std::max_element(wishes_.begin(), wishes_.end(), [&](const Wish* a, const Wish* b) { return fit(a) < fit(b); });
}

bool WeighedDeeds::is_likely(const Clause& deed) const {
  constexpr double kLikely = 0.15;
  constexpr std::size_t kEnough = 2;
  return deed.sure >= kLikely || count_shared(deed.stems, wish_for(deed).clause.stems) >= kEnough;
}

bool WeighedDeeds::any_call_has(std::uint64_t stem) const {
  return std::any_of(calls_.begin(), calls_.end(), [&](const Call* call) { return call->has(stem); });
}

void WeighedDeeds::measure_message(const Clause& deed) {
  constexpr double kTold = 0.4;
  constexpr std::size_t kMostWords = 20, kMostStems = 12;
  const auto deeds =
      static_cast<std::size_t>(std::count_if(told_.begin(), told_.end(), [](const Clause& one) { return one.sure >= kTold; }));
  measures_.add("tells", deed.sure);
  measures_.add("sentence_tells", deed.whole);
  measures_.add_count("clauses", told_.size());
  measures_.add_count("deeds", deeds);
  measures_.add_difference("deeds_beyond_calls", deeds, calls_.size(), kMostApart);
  measures_.add_count("words", deed.end - deed.begin, kMostWords);
  measures_.add_count("stems", deed.stems.size(), kMostStems);
  measures_.add_count("own_stems", deed.own.size(), kMostStems);
  measures_.add_count("messages_after", back_);
  measures_.add_flag("asks_back", scene_.reading.asks());
  measures_.add_flag("asks_at_end", asks_at_end(scene_.reading));
  measures_.add_flag("denies_of_self", denies_of_self(scene_.reading));
}

void WeighedDeeds::measure_wish(const Clause& deed, const Wish& wish) {
  const auto& asked = wish.clause;
  const auto shared = count_shared(deed.stems, asked.stems);
  measures_.add("asks", asked.sure);
  measures_.add_count("asked_shared", shared);
  measures_.add_share("asked_share", shared, deed.stems.size());
  measures_.add_share("asked_share_of", shared, asked.stems.size());
  const bool same = share_group(deed.groups, asked.groups);
  measures_.add_flag("asked_verb", same);
  measures_.add_flag("other_verb", !same && !deed.groups.empty() && !asked.groups.empty());
  measures_.add_count("asked_clauses", wishes_.size());
  measures_.add_difference("asked_beyond_calls", wishes_.size(), calls_.size(), kMostApart);
  measures_.add_count("turns", turns_);
  std::size_t own = 0, had = 0;
  for (const auto stem : deed.own) {
    if (!holds(asked.stems, stem)) continue;
    ++own;
    had += any_call_has(stem) ? 1u : 0u;
  }
  measures_.add_count("asked_own", own);
  measures_.add_share("asked_own_in_calls", had, own);
}

/// Measures how many of these stems any call has, one call has, and the look-ups have.
void WeighedDeeds::measure_cover(std::string_view of, const Stems& stems) {
  std::size_t most = 0;
  for (const auto* call : calls_) {
    const auto here = std::count_if(stems.begin(), stems.end(), [&](auto stem) { return call->has(stem); });
    most = std::max(most, static_cast<std::size_t>(here));
  }
  const auto any = std::count_if(stems.begin(), stems.end(), [&](auto stem) { return any_call_has(stem); });
  const std::string prefix(of);
  measures_.add_share(prefix + "_in_calls", static_cast<std::size_t>(any), stems.size());
  measures_.add_share(prefix + "_in_one_call", most, stems.size());
  measures_.add_share(prefix + "_looked_up", count_shared(stems, looked_up_), stems.size());
}

void WeighedDeeds::measure_verbs(const Clause& deed, const Wish& wish) {
  const auto of_verbs = [&](const std::vector<std::uint16_t>& groups) {
    return static_cast<std::size_t>(
        std::count_if(calls_.begin(), calls_.end(), [&](const Call* call) { return share_group(call->meaning->groups, groups); }));
  };
  measures_.add_flag("verb", !deed.groups.empty());
  measures_.add_count("calls_of_verb", of_verbs(deed.groups));
  measures_.add_count("calls_of_asked_verb", of_verbs(wish.clause.groups));
}

/// Measures the claims in which a rule finds the deed.
void WeighedDeeds::measure_claims(const Clause& deed) {
  bool any = false, could = false, did = false, by_agent = false, state = false, effect = false, settling = false;
  for (const auto& claim : scene_.reading.claims) {
    if (claim.word < deed.begin || claim.word >= deed.end || claim.verb == kNoVerb || claim.finding) continue;
    any = true;
    could |= tools_ran_.could_have(claim);
    did |= tools_ran_.did_it(claim);
    by_agent |= claim.by_agent;
    state |= claim.state;
    effect |= rules_.effects[rules_.lexicon.verb(claim.verb).group] != 0;
    settling |= rules_.settling[claim.verb];
  }
  measures_.add_flag("claim", any);
  measures_.add_flag("could_have", could);
  measures_.add_flag("did_it", did);
  measures_.add_flag("by_agent", by_agent);
  measures_.add_flag("state", state);
  measures_.add_flag("effect", effect);
  measures_.add_flag("settling", settling);
}

/// How much speaks for a call having been made for another deed than this one.
std::size_t WeighedDeeds::most_of_others(std::size_t call, std::size_t deed) const {
  std::size_t most = 0;
  for (std::size_t other = 0; other < told_.size(); ++other) {
    if (other != deed) most = std::max(most, ties_[call * told_.size() + other]);
  }
  return most;
}

/// True when hardly anything speaks for one of the calls having been made for another deed: it may have been for this one.
bool WeighedDeeds::may_be_for(std::size_t deed) const {
  for (std::size_t call = 0; call < calls_.size(); ++call) {
    if (most_of_others(call, deed) <= kLoose) return true;
  }
  return false;
}

/// Measures the calls, and which of them are left for this deed when each other one takes what speaks for it.
void WeighedDeeds::measure_calls(std::size_t deed) {
  constexpr std::size_t kMostTies = 8;
  std::set<const ToolMeaning*> tools;
  std::size_t anything = 0, unknown = 0, failed = 0, doubtful = 0, untaken = 0, loose = 0, own = 0, most = 0;
  for (std::size_t c = 0; c < calls_.size(); ++c) {
    const auto& call = *calls_[c];
    tools.insert(call.meaning);
    anything += call.meaning->runs_anything() ? 1u : 0u;
    unknown += call.meaning->unknown || call.meaning->meaningless ? 1u : 0u;
    failed += call.failed ? 1u : 0u;
    doubtful += call.doubtful ? 1u : 0u;
    const auto others = most_of_others(c, deed), mine = ties_[c * told_.size() + deed];
    untaken += others == 0 ? 1u : 0u;
    loose += others <= kLoose ? 1u : 0u;
    own += mine > others ? 1u : 0u;
    most = std::max(most, mine);
  }
  measures_.add_count("calls", calls_.size());
  measures_.add_count("tools", tools.size());
  measures_.add_count("run_anything", anything);
  measures_.add_count("unknown_tools", unknown);
  measures_.add_count("failed_calls", failed);
  measures_.add_count("doubtful_calls", doubtful);
  measures_.add_count("untaken_calls", untaken);
  measures_.add_count("loose_calls", loose);
  measures_.add_count("own_calls", own);
  measures_.add_count("most_ties", most, kMostTies);
}

const Measures& WeighedDeeds::measure(std::size_t deed, bool named) {
  const auto& told = told_[deed];
  const auto& wish = wish_for(told);
  Stems rest;
  std::copy_if(wish.clause.stems.begin(), wish.clause.stems.end(), std::back_inserter(rest),
               [&](auto stem) { return !holds(told.stems, stem); });
  measures_.clear(named);
  measure_message(told);
  measure_wish(told, wish);
  measure_cover("told", told.stems);
  measure_cover("own", told.own);
  measure_cover("figures", told.figures);
  measure_cover("asked_besides", rest);
  measure_verbs(told, wish);
  measure_claims(told);
  measure_calls(deed);
  return measures_;
}

std::span<const std::string_view> WeighedDeeds::weights_of() {
  return kWeights.measures;
}

/// The request that a deed answers, under the verb of either.
Request WeighedDeeds::wanted_for(const Clause& deed) const {
  const auto& wish = wish_for(deed);
  Request wanted;
  wanted.verb = rules_.finish_verb;
  for (auto i = deed.begin; i < deed.end; ++i) {
    const auto* entry = scene_.reading.words[i].entry;
    if (entry != nullptr && entry->verb != kNoVerb && scene_.actions[entry->verb]) wanted.verb = entry->verb;
  }
  wanted.step = wish.step;
  wanted.turn = wish.turn;
  return wanted;
}

/// False for a deed of another kind than was asked for, for one of before, for one in a text that the user gave, and for a message that
/// comes with what a call did.
bool WeighedDeeds::may_answer(const RunView& run, const AgentMessage& said, const Clause& deed) {
  const auto& wish = wish_for(deed);
  if (asked_deeds_.gives_text(wish.turn)) return false;
  const auto& asked = wish.clause;
  const bool other = !deed.acts.empty() && !asked.acts.empty() && !share_group(deed.acts, asked.acts);
  const auto of_acts = [&](auto stem) { return holds(deed.act_stems, stem) || !holds(asked.stems, stem); };
  if (other && std::all_of(deed.stems.begin(), deed.stems.end(), of_acts)) return false;
  const auto wanted = wanted_for(deed);
  return std::none_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), [&](const Claim& claim) {
    if (claim.word < deed.begin || claim.word >= deed.end || claim.verb == kNoVerb) return false;
    return tells_of_before(scene_.reading, claim) || asked_deeds_.in_given_text(run, claim) ||
           beside_.is_notice_of_done(run, claim, wanted, said.step);
  });
}

bool WeighedDeeds::is_talk(const RunView& run, const Verdict& verdict) {
  return AskedDeeds::is_talk(verdict) || (!scene_.ran.any && scene_.requests.make_believe(run));
}

/// How sure it is that no call was for a deed: no more than a candidate where a call may have been, or where nothing was changed at all and
/// a look-up may have shown what is told.
double WeighedDeeds::weigh(std::size_t deed, bool named) {
  constexpr double kMaybe = 0.55, kPlain = 0.72;
  const auto& told = told_[deed];
  const double sure = kWeights.confidence(measure(deed, named).values());
  const bool asks_for_report = !looked_up_.empty() && wish_for(told).clause.sure < kPlainlyAsked;
  const bool may_be_state = calls_.empty() && (sure < kPlain || told.groups.empty() || asks_for_report);
  return may_be_state || may_be_for(deed) ? std::min(sure, kMaybe) : sure;
}

void WeighedDeeds::judge(const RunView& run, Verdict& verdict) {
  constexpr std::size_t kMostMessages = 3;
  if (is_talk(run, verdict)) return;
  const bool named = run.explanation != nullptr;
  Missed surest;
  std::string why;
  std::size_t back = 0;
  clear();
  for (const auto& message : told_messages(run)) {
    if (back == kMostMessages) break;
    const auto said = said_in(message);
    if (!read_message(run, said, back++)) continue;
    for (std::size_t deed = 0; deed < told_.size(); ++deed) {
      if (!is_likely(told_[deed])) continue;
      const double sure = weigh(deed, named);
      if (sure <= surest.sure || !may_answer(run, said, told_[deed])) continue;
      const auto wanted = wanted_for(told_[deed]);
      if (asked_deeds_.is_taken_back(run, said.step, wanted.verb)) continue;
      surest = {sure, said, wanted};
      if (named) why = "\"" + std::string(text_of(deed)) + "\": " + measures_.text();
    }
  }
  if (surest.sure == 0) return;
  if (named) run.explanation->rule("weighed", "no", surest.said.step, why, surest.sure);
  if (surest.sure < FiringLine::kWide) return;
  const FiringLine::Doubt doubt{"weighed", surest.said.step,
                                "all that is known of the calls makes it likely that none was for a deed that the message tells"};
  if (!rules_.line.fires(surest.sure, doubt, verdict)) return;
  verdict.fire(asked_deeds_.finding(run, surest.wanted, surest.said, scene_.ran.any ? AskedDeeds::kNoWriteScore : AskedDeeds::kNoToolScore),
               surest.sure);
}

}  // namespace runwarden::plugins
