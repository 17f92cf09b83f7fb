#include "false_success/told_failures.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "common/json_scan.h"
#include "common/words.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kMostTies = 8;
constexpr double kMostApart = 4;
constexpr double kUndone = 0.3;  // how likely a clause says that something was not done

Stems without(const Stems& some, const Stems& others) {
  Stems out;
  std::set_difference(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(out));
  return out;
}

Stems united(const Stems& some, const Stems& others) {
  Stems out;
  std::set_union(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(out));
  return out;
}

}  // namespace

void ToldFailures::read_turns(const RunView& run) {
  constexpr std::size_t kMost = 6, kLongest = 4096;  // turns, and bytes of each
  asked_.clear();
  turns_.clear();
  std::vector<std::string_view> turns;
  for (auto i = run.steps.size(); i-- > 0 && turns.size() + 1 < kMost;) {
    if (run.steps[i].kind == Kind::kUser && !trim(run.steps[i].said()).empty()) turns.push_back(run.steps[i].said());
  }
  if (!trim(run.user_request).empty()) turns.push_back(run.user_request);
  std::vector<Clause> asked;
  for (auto turn = turns.rbegin(); turn != turns.rend(); ++turn) {
    const auto text = turn->substr(0, kLongest);
    run.pace(text.size());
    read_words(text, rules_.lexicon, turn_);
    collect_asked(
        turn_, reader_, [](const Sentence&) { return true; }, asked);
    last_asked_ = asked_.size();
    std::move(asked.begin(), asked.end(), std::back_inserter(asked_));
    add_stems(text, turns_);
  }
  settle(turns_);
}

ToldFailures::Call ToldFailures::read_call(const RunView& run, std::size_t step) const {
  Call call;
  call.step = step;
  call.failed = scene_.failures[step] != Failure::kNone;
  run.pace(run.steps[step].input.size() + run.steps[step].output.size());
  read_stems(run.steps[step], scene_.recovery.meaning(run.steps[step].name), call);
  return call;
}

void ToldFailures::read_calls(const RunView& run, std::size_t first) {
  constexpr std::size_t kMost = 24;  // of each kind
  calls_.clear();
  looks_.clear();
  for (auto i = run.steps.size(); i-- > 0;) {
    if (run.steps[i].kind != Kind::kTool) continue;
    const bool looks = scene_.recovery.meaning(run.steps[i].name).reads;
    auto& of_kind = looks ? looks_ : calls_;
    if (of_kind.size() < kMost && (!looks || i >= first)) of_kind.push_back(read_call(run, i));
  }
}

void ToldFailures::read_said() {
  words_.clear();
  for (const auto& word : scene_.reading.words) {
    if (is_telling(word) || has_digit(word.text)) words_.push_back(stem_of(word.text));
  }
  settle(words_);
}

void ToldFailures::read_message() {
  std::vector<Clause> clauses;
  collect_told(scene_.reading, reader_, clauses);
  told_.clear();
  for (auto& clause : clauses) told_.push_back({std::move(clause)});
}

void ToldFailures::read_run(const RunView& run, std::size_t first) {
  collect_untold(scene_.reading, reader_, untold_);
  read_said();
  read_turns(run);
  read_calls(run, first);
  compare_with_done();
}

void ToldFailures::read_later(std::span<const FinalMessage> messages) {
  later_.clear();
  std::vector<Clause> clauses;
  const auto note = [&] {
    for (const auto& clause : clauses) {
      if (clause.undone >= kUndone || clause.open) later_.push_back(clause);
    }
  };
  for (const auto& message : messages) {
    read(message.text, rules_.lexicon, turn_);
    collect_told(turn_, reader_, clauses);
    note();
    collect_untold(turn_, reader_, clauses);
    note();
  }
}

/// True for a clause that says without a figure that a deed of the message was not done after all.
bool ToldFailures::denies_told(const Clause& said) const {
  return said.undone >= kUndone && said.figures.empty() &&
         std::any_of(told_.begin(), told_.end(), [&](const Said& deed) { return share_group(said.acts, deed.acts); });
}

bool ToldFailures::taken_back(const RunView& run, std::size_t step) {
  if (later_.empty()) return false;
  const auto& call = call_at(run, step);
  return std::any_of(later_.begin(), later_.end(), [&](const Clause& said) {
    const auto shares = [&](const Stems& stems) {
      return count_shared(stems, call.input) + count_shared(stems, call.name) + count_shared(stems, call.output);
    };
    return shares(said.figures) > 0 || shares(said.stems) > 1 || denies_told(said);
  });
}

const ToldFailures::Call& ToldFailures::call_at(const RunView& run, std::size_t step) {
  for (const auto* calls : {&calls_, &looks_}) {
    const auto call = std::find_if(calls->begin(), calls->end(), [&](const Call& one) { return one.step == step; });
    if (call != calls->end()) return *call;
  }
  other_ = read_call(run, step);
  return other_;
}

ToldFailures::Doubt ToldFailures::doubt_at(const RunView& run, std::size_t step) {
  Doubt doubt{call_at(run, step), {}, {}, {}};
  Stems others;
  for (const auto& other : calls_) {
    if (other.step == step || other.failed) continue;
    others.insert(others.end(), other.name.begin(), other.name.end());
    others.insert(others.end(), other.input.begin(), other.input.end());
  }
  settle(others);
  doubt.given = united(doubt.call.name, doubt.call.input);
  doubt.own = without(doubt.given, others);
  doubt.reasons = without(without(doubt.call.output, doubt.given), turns_);
  return doubt;
}

double ToldFailures::surest() const {
  double out = 0;
  for (const auto& deed : told_) out = std::max(out, deed.sure);
  return out;
}

/// How much of the call a clause has. What only this call has counts twice.
std::size_t ToldFailures::count_words_of(const Doubt& doubt, const Clause& clause) {
  return count_shared(clause.stems, doubt.given) + count_shared(clause.stems, doubt.own) +
         (share_group(clause.groups, doubt.call.meaning->groups) ? 1 : 0);
}

/// Compares each clause that may tell a deed with the calls that did not fail.
void ToldFailures::compare_with_done() {
  for (auto& clause : told_) {
    for (const auto& call : calls_) {
      if (call.failed) continue;
      const auto ties = count_ties(clause, call);
      if (clause.done_step == kNoStep || ties > clause.done_ties) {
        clause.other_ties = clause.done_ties;
        clause.done_ties = ties;
        clause.done_step = call.step;
      } else {
        clause.other_ties = std::max(clause.other_ties, ties);
      }
    }
  }
}

/// How much speaks for a clause being of another call that succeeded.
std::size_t ToldFailures::most_of_others(const Doubt& doubt, const Said& clause) {
  return clause.done_step == doubt.call.step ? clause.other_ties : clause.done_ties;
}

/// How many other calls may have changed something and did not fail.
std::size_t ToldFailures::count_done(const Doubt& doubt) const {
  return static_cast<std::size_t>(
      std::count_if(calls_.begin(), calls_.end(), [&](const Call& call) { return !call.failed && call.step != doubt.call.step; }));
}

void ToldFailures::measure_outcome(const RunView& run, const Doubt& doubt, Measures& out) {
  constexpr std::size_t kUnit = 50, kMostUnits = 20;  // bytes of output
  const auto& step = run.steps[doubt.call.step];
  out.add("undone", outcomes_.undone(run, doubt.call.step));
  out.add_flag("known_failed", doubt.call.failed);
  out.add_flag("by_status", step.outcome == Outcome::kFailed);
  out.add_flag("json", looks_like_json(step.output));
  out.add_count("output_size", step.output.size() / kUnit, kMostUnits);
  std::size_t after = 0, same = 0, same_failed = 0;
  for (const auto& other : calls_) {
    if (other.step == doubt.call.step) continue;
    after += !other.failed && other.step > doubt.call.step ? 1u : 0u;
    same += !other.failed && other.meaning == doubt.call.meaning ? 1u : 0u;
    same_failed += other.failed && other.meaning == doubt.call.meaning ? 1u : 0u;
  }
  out.add_count("done", count_done(doubt));
  out.add_count("done_after", after);
  out.add_count("same_done", same);
  out.add_count("same_failed", same_failed);
}

/// Measures how many deeds the message tells, and how many of them are of this call rather than of others.
void ToldFailures::measure_deeds(const Doubt& doubt, Measures& out) const {
  constexpr double kTold = 0.4;
  constexpr std::size_t kMostOwn = 12;
  std::size_t deeds = 0, mine = 0;
  double sure_of_mine = 0;
  Stems told;
  for (const auto& deed : told_) {
    deeds += deed.sure >= kTold ? 1u : 0u;
    told = united(told, deed.stems);
    const auto here = count_ties(deed, doubt.call), there = most_of_others(doubt, deed);
    if (here < there || here == 0 || (here == there && count_shared(deed.stems, doubt.own) == 0)) continue;
    ++mine;
    sure_of_mine = std::max(sure_of_mine, deed.sure);
  }
  out.add_count("clauses", told_.size());
  out.add_count("deeds", deeds);
  out.add_difference("deeds_beyond_done", deeds, count_done(doubt), kMostApart);
  out.add("surest", surest());
  out.add_count("mine", mine);
  out.add("sure_of_mine", sure_of_mine);
  out.add_count("told_own", count_shared(told, doubt.own));
  out.add_share("told_own_share", count_shared(told, doubt.own), doubt.own.size());
  out.add_count("own", doubt.own.size(), kMostOwn);
}

/// Measures the clause that tells a deed and speaks most of this call.
void ToldFailures::measure_nearest(const Doubt& doubt, Measures& out) const {
  constexpr double kSure = 0.8, kOthers = 0.5;  // shared words
  const Said none;
  const auto* nearest = &none;
  double best = -1;
  for (const auto& deed : told_) {
    const double fit = static_cast<double>(count_ties(deed, doubt.call) + count_shared(deed.stems, doubt.own)) + kSure * deed.sure -
                       kOthers * static_cast<double>(most_of_others(doubt, deed));
    if (fit <= best) continue;
    best = fit;
    nearest = &deed;
  }
  out.add("nearest_tells", nearest->sure);
  out.add("nearest_sentence_tells", nearest->whole);
  out.add("nearest_undone", nearest->undone);
  out.add_count("nearest_ties", count_ties(*nearest, doubt.call), kMostTies);
  out.add_count("nearest_others", most_of_others(doubt, *nearest), kMostTies);
  out.add_count("nearest_own", count_shared(nearest->stems, doubt.own));
  out.add_count("nearest_input", count_shared(nearest->stems, doubt.call.input));
  out.add_count("nearest_stems", nearest->own.size());
  out.add_flag("nearest_figure", count_shared(nearest->figures, doubt.call.input) > 0);
}

/// Measures how surely the clauses that speak of this call tell that something was not done.
void ToldFailures::measure_undone(const Doubt& doubt, Measures& out) const {
  std::size_t most = 0;
  double any = 0, of_call = 0, nearest = 0, nearest_tells = 0, of_own = 0;
  const auto read = [&](const Clause& clause) {
    any = std::max(any, clause.undone);
    const auto here = count_words_of(doubt, clause);
    if (here > 0) of_call = std::max(of_call, clause.undone);
    if (count_shared(clause.stems, doubt.own) > 0) of_own = std::max(of_own, clause.undone);
    if (here < most || (here == most && clause.undone <= nearest)) return;
    most = here;
    nearest = clause.undone;
    nearest_tells = clause.sure;
  };
  std::for_each(told_.begin(), told_.end(), read);
  std::for_each(untold_.begin(), untold_.end(), read);
  out.add("tells_undone", any);
  out.add("undone_of_call", of_call);
  out.add("undone_of_own", of_own);
  out.add("about_undone", nearest);
  out.add("about_tells", nearest_tells);
  out.add_count("about_words", most, kMostTies);
}

/// Measures how far the clauses that tell no deed are of this call, and give the reason that it gave.
void ToldFailures::measure_untold(const Doubt& doubt, Measures& out) const {
  constexpr std::size_t kMostWords = 20;
  std::size_t open = 0, words = 0, open_ties = 0, ties = 0, input = 0, own = 0, told = 0;
  for (const auto& clause : untold_) {
    const auto here = count_words_of(doubt, clause);
    ties = std::max(ties, here);
    if (!clause.open) continue;
    ++open;
    words += clause.stems.size();
    open_ties = std::max(open_ties, here);
    input = std::max(input, count_shared(clause.stems, doubt.call.input));
    own = std::max(own, count_shared(clause.stems, doubt.own));
  }
  for (const auto& clause : told_) told = std::max(told, count_words_of(doubt, clause));
  out.add_count("untold_clauses", untold_.size());
  out.add_count("open_clauses", open);
  out.add_count("open_words", words, kMostWords);
  out.add_count("open_ties", open_ties);
  out.add_difference("told_beyond_open", told, open_ties, kMostApart);
  out.add_difference("told_beyond_untold", told, ties, kMostApart);
  out.add_count("open_input", input);
  out.add_count("open_own", own);
  out.add_count("told_reason", count_shared(words_, doubt.reasons));
  out.add_share("told_reason_share", count_shared(words_, doubt.reasons), doubt.reasons.size());
}

/// Measures how far other calls that succeeded took up what this one was given.
void ToldFailures::measure_later(const Doubt& doubt, Measures& out) const {
  const auto& call = doubt.call;
  std::size_t later = 0, looked = 0, before = 0;
  bool verb = false;
  for (const auto& other : calls_) {
    if (other.failed || other.step == call.step) continue;
    auto& most = other.step < call.step ? before : later;
    most = std::max(most, count_shared(call.input, other.input));
    if (other.step < call.step) continue;
    verb |= share_group(other.meaning->groups, call.meaning->groups);
  }
  for (const auto& other : looks_) {
    if (other.step > call.step) looked = std::max(looked, count_shared(call.input, other.output));
  }
  out.add_share("later_share", later, call.input.size());
  out.add_share("earlier_share", before, call.input.size());
  out.add_share("looked_share", looked, call.input.size());
  out.add_flag("later_verb", verb);
  out.add_share("input_not_asked", without(call.input, turns_).size(), call.input.size());
}

/// Measures the clause of the user's turns that this call was for, and whether the message tells what it asks for.
void ToldFailures::measure_asked(const Doubt& doubt, Measures& out) const {
  constexpr double kSure = 0.5;  // shared words
  const Clause none;
  const auto* asked = &none;
  double best = -1;
  for (const auto& clause : asked_) {
    const double fit = static_cast<double>(count_ties(clause, doubt.call)) + kSure * clause.sure;
    if (fit <= best) continue;
    best = fit;
    asked = &clause;
  }
  std::size_t most = 0;
  double sure = 0;
  for (const auto& deed : told_) {
    const auto shared = count_shared(deed.stems, asked->stems) + (share_group(deed.groups, asked->groups) ? 1 : 0);
    if (shared == 0 || shared < most || (shared == most && deed.sure <= sure)) continue;
    most = shared;
    sure = deed.sure;
  }
  out.add_count("asked_clauses", asked_.size());
  out.add_count("asked_ties", count_ties(*asked, doubt.call));
  out.add("asks", asked->sure);
  out.add_flag("asked_last", asked != &none && static_cast<std::size_t>(asked - asked_.data()) >= last_asked_);
  out.add_count("asked_told", most);
  out.add("asked_tells", sure);
}

void ToldFailures::measure(const RunView& run, std::size_t step, Measures& out) {
  const auto doubt = doubt_at(run, step);
  measure_outcome(run, doubt, out);
  measure_deeds(doubt, out);
  measure_nearest(doubt, out);
  measure_undone(doubt, out);
  measure_untold(doubt, out);
  measure_later(doubt, out);
  measure_asked(doubt, out);
}

}  // namespace runwarden::plugins
