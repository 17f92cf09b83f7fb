#include <algorithm>
#include <array>

#include "common/words.h"
#include "evidence/stems.h"
#include "evidence/trees.h"
#include "evidence/undone.h"
#include "false_success/false_success.h"
#include "false_success/weights.inc"

namespace runwarden::plugins {
namespace {

// How likely an output says that nothing was changed: to be asked about, and to count as a refusal.
constexpr double kLeastUndone = 0.12, kRefuses = 0.65;
constexpr std::array<std::string_view, 5> kCandidates = {"vague_claim", "unrelated_claim", "unsupported_answer", "untold_failure",
                                                         "untold_trouble"};
constexpr std::array<std::string_view, 5> kSilences = {"recovery", "admission", "plan", "handover", "no_claim"};

/// The run up to an answer and with it as the last word. `success` was set later, so it is left out.
RunView up_to(const RunView& run, std::size_t answer) {
  RunView out;
  out.user_request = run.user_request;
  out.steps.assign(run.steps.begin(), run.steps.begin() + static_cast<std::ptrdiff_t>(answer) + 1);
  out.stop = run.stop;
  return out;
}

/// True when another rule left a candidate for the same step.
bool doubted_by_another(std::size_t step, const Verdict& verdict) {
  constexpr double kSupport = 0.2;
  return std::any_of(verdict.suppressed.begin(), verdict.suppressed.end(),
                     [&](const Suppression& told) { return told.step == step && told.confidence.value_or(0) >= kSupport; });
}

}  // namespace

/// Measures the failure and what came after it.
void FalseSuccess::measure_failure(const RunView& run, const FailedStep& failed) {
  const auto& step = run.steps[failed.step];
  const bool tool = step.kind == Kind::kTool;
  const auto& meaning = scene_.recovery.meaning(step.name);
  measures_.add_flag("hard", failed.failure == Failure::kHard);
  measures_.add_flag("tool", tool);
  measures_.add_flag("reads", tool && meaning.reads);
  measures_.add_flag("runs_anything", tool && meaning.runs_anything());
  measures_.add_flag("unknown_tool", tool && meaning.unknown);
  measures_.add_flag("deed", tool && meaning.group != 0 && !meaning.reads && !meaning.any_purpose);
  measures_.add_flag("recovered", failed.recovered);
  measure_calls_around(run, failed.step);
  measures_.add_flag("talked_since", user_replied(run, failed.step, run.steps.size()));
  measures_.add_flag("owned_up_after", last_owned_up_ != kNoStep && last_owned_up_ > failed.step);
}

/// Counts the run's other calls: how many failed, and what came before and after the one that did.
void FalseSuccess::measure_calls_around(const RunView& run, std::size_t failed) {
  const auto& step = run.steps[failed];
  std::size_t calls = 0, failures = 0, open = 0, same_failed = 0, same_before = 0, same_after = 0, ok_after = 0, changed_after = 0,
              after = 0;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& other = run.steps[i];
    if (other.kind != Kind::kTool) continue;
    ++calls;
    const bool bad = scene_.failures[i] != Failure::kNone;
    const bool same = other.name == step.name && i != failed;
    failures += bad ? 1u : 0u;
    same_failed += bad && same ? 1u : 0u;
    same_before += !bad && same && i < failed ? 1u : 0u;
    if (i <= failed) continue;
    ++after;
    same_after += !bad && same ? 1u : 0u;
    ok_after += bad ? 0u : 1u;
    changed_after += !bad && !scene_.recovery.meaning(other.name).reads ? 1u : 0u;
  }
  for (const auto& one : scene_.failed) open += one.recovered ? 0u : 1u;
  constexpr std::size_t kFew = 4;
  measures_.add_count("failures", failures, kFew);
  measures_.add_share("failed_share", failures, calls);
  measures_.add_count("open_failures", open, kFew);
  measures_.add_count("same_tool_failed", same_failed, kFew);
  measures_.add_count("same_tool_before", same_before, kFew);
  measures_.add_count("same_tool_after", same_after, kFew);
  measures_.add_count("ok_after", ok_after, kFew);
  measures_.add_count("changed_after", changed_after, kFew);
  measures_.add_count("calls_after", after, kFew);
}

/// Measures what the message in scene_.reading says about the failure.
void FalseSuccess::measure_telling(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  const auto& step = run.steps[failed.step];
  measure_message(scene_.reading, "message_", measures_);
  claims_.index_told();
  measures_.add_flag("message_after", message.place > failed.step);
  measures_.add_flag("names_value", claims_.mentions_undone_value(step, false));
  measures_.add_flag("word_of_reason", claims_.has_word_of_reason(run, step));
  measures_.add_flag("gives_reason", claims_.gives_its_reason(step));
  measures_.add_flag("speaks_of", claims_.speaks_of(run, step));
  measure_shared(run, failed.step, message);
  measure_user(run, measures_);
  const auto before = message_before(run, message);
  measures_.add_flag("told_before", before != kNoStep && before > failed.step);
}

/// Measures which words the message shares with calls that succeeded and with others. All that are known to have failed share one reading.
void FalseSuccess::measure_shared(const RunView& run, std::size_t failed, const FinalMessage& message) {
  const bool known = scene_.failures[failed] != Failure::kNone;
  if (!known || !shared_of_known_) {
    std::vector<bool> changes(run.steps.size());
    std::vector<bool> undone(run.steps.size());
    for (std::size_t i = 0; i < run.steps.size(); ++i) {
      undone[i] = scene_.failures[i] != Failure::kNone || i == failed;
      changes[i] = scene_.may_change(run.steps[i]);
    }
    shared_.clear(measures_.named());
    measure_shared_words(run, message.text, undone, changes, shared_);
    shared_of_known_ = known;
  }
  measures_.append(shared_);
}

/// True when a later call of a run was given all figures and most of the words that a call was given, and no rule takes it for failed.
/// Looks at the next 16 calls of the tool.
bool FalseSuccess::is_repeated(const RunView& run, std::size_t step) const {
  constexpr std::size_t kLongest = 4096, kMost = 16;  // bytes, and calls
  const auto& call = run.steps[step];
  Stems given, again, figures, figures_again;
  const auto read_input = [](std::string_view input, Stems& words, Stems& with_digits) {
    words.clear();
    with_digits.clear();
    add_stems(input.substr(0, kLongest), words);
    settle(words);
    for_each_word(input.substr(0, kLongest), [&](std::string_view word) {
      if (has_digit(word)) with_digits.push_back(stem_of(word));
      return true;
    });
    settle(with_digits);
  };
  std::size_t looked = 0;
  for (auto i = step + 1; i < run.steps.size() && looked < kMost; ++i) {
    const auto& later = run.steps[i];
    if (later.kind != Kind::kTool || later.name != call.name) continue;
    ++looked;
    if (failures_[i] != Failure::kNone || undone_[i] >= kRefuses) continue;
    if (later.input == call.input) return true;
    run.pace(later.input.size());
    if (given.empty()) read_input(call.input, given, figures);
    read_input(later.input, again, figures_again);
    if (count_shared(figures, figures_again) == figures.size() && 3 * count_shared(given, again) >= 2 * given.size()) return true;
  }
  return false;
}

/// Collects the calls of a part of the run whose output may say that nothing was changed, from the last on; not those that were repeated.
void FalseSuccess::collect_unsure(const RunView& run, std::size_t begin, std::size_t end) {
  unsure_.clear();
  if (!rules_.soft_failures) return;
  for (auto i = end; i-- > begin;) {
    if (failures_[i] != Failure::kNone || !scene_.may_change(run.steps[i])) continue;
    if (undone_[i] < 0 && outputs_to_read_ > 0) {
      --outputs_to_read_;
      undone_[i] = static_cast<float>(outcomes_.undone(run, i));
    }
    if (undone_[i] < kLeastUndone || is_repeated(run, i)) continue;
    if (!ends_well(run.steps[i].output, rules_.lexicon, scene_.scratch)) unsure_.push_back(i);
  }
}

/// True when the message in scene_.reading tells a deed.
bool FalseSuccess::message_tells() {
  constexpr double kTells = 0.3;
  told_failures_.read_message();
  return !scene_.reading.claims.empty() || told_failures_.surest() >= kTells;
}

/// The first step of a part of the run that failed, or that may have changed something; `end` for none. Other steps leave no doubt.
std::size_t FalseSuccess::first_in_doubt(const RunView& run, std::size_t begin, std::size_t end) {
  const auto in_doubt = [&](std::size_t i) { return failures_[i] != Failure::kNone || scene_.may_change(run.steps[i]); };
  while (begin < end && !in_doubt(begin)) ++begin;
  return begin;
}

/// False when no step of an exchange can be in doubt, whatever its message tells.
bool FalseSuccess::may_be_in_doubt(const Exchange& exchange) {
  const auto& told = exchange.verdict.suppressed;
  const auto end = exchange.run.steps.size();
  return !scene_.failed.empty() || first_in_doubt(exchange.whole, exchange.begin, end) < end ||
         std::any_of(told.begin(), told.end(), [](const Suppression& one) { return one.confidence.has_value(); });
}

/// True when a call of a part of the run may have failed.
bool FalseSuccess::may_have_failed(const RunView& run, std::size_t begin, std::size_t end) {
  const auto first = failures_.begin() + static_cast<std::ptrdiff_t>(begin), last = failures_.begin() + static_cast<std::ptrdiff_t>(end);
  if (std::any_of(first, last, [](Failure failure) { return failure != Failure::kNone; })) return true;
  collect_unsure(run, begin, end);
  return !unsure_.empty();
}

/// The calls of an exchange to ask about: those that failed first, then those that a rule left in doubt, then the rest; only those of a
/// rule where the message tells no deed.
std::vector<FailedStep> FalseSuccess::doubtful(const Exchange& exchange, bool tells) const {
  constexpr std::size_t kMost = 12, kMostUnsure = 6;  // those that are not known to have failed cost a reading of the run each
  std::vector<FailedStep> out;
  const auto add = [&](const FailedStep& one) {
    const auto same = [&](const FailedStep& known) { return known.step == one.step; };
    const auto& good = exchange.made_good;
    if (one.step < exchange.begin || one.step >= exchange.run.steps.size() || out.size() == kMost) return;
    if (exchange.whole.steps[one.step].kind == Kind::kTool && is_repeated(exchange.whole, one.step)) return;
    if (std::none_of(out.begin(), out.end(), same) && std::find(good.begin(), good.end(), one.step) == good.end()) out.push_back(one);
  };
  const auto add_step = [&](std::size_t step) {
    const auto known = std::find_if(scene_.failed.begin(), scene_.failed.end(), [&](const FailedStep& one) { return one.step == step; });
    add(known != scene_.failed.end() ? *known : FailedStep{step, Failure::kSoft, false});
  };
  if (tells) std::for_each(scene_.failed.rbegin(), scene_.failed.rend(), add);
  for (const auto& told : exchange.verdict.suppressed) {
    if (told.confidence) add_step(told.step);
  }
  const auto unsure = static_cast<std::ptrdiff_t>(tells ? std::min(unsure_.size(), kMostUnsure) : 0);
  std::for_each(unsure_.begin(), unsure_.begin() + unsure, add_step);
  return out;
}

/// Measures each doubt of an exchange whose calls and message are in the scene.
void FalseSuccess::visit_exchange(const Exchange& exchange, const std::function<void(const Doubt&)>& take) {
  constexpr std::array<std::string_view, 3> kLeft = {"admission", "plan", "handover"};
  const auto message = find_final_message(exchange.run, rules_.lexicon, scene_.reading);
  if (!message.found || !may_be_in_doubt(exchange) || !scene_.reading.understood(message.text)) return;
  Doubt doubt;
  doubt.message = message;
  doubt.messages_after = exchange.messages_after;
  doubt.tells = message_tells();
  doubt.offers = has(scene_.reading.cues, kCueOffer);
  unsure_.clear();
  if (doubt.tells) collect_unsure(exchange.whole, exchange.begin, exchange.run.steps.size());
  const auto doubts = doubtful(exchange, doubt.tells);
  if (doubts.empty()) return;
  scene_.forget_message();
  scene_.flag_only = false;
  if (scene_.failed.empty()) outcomes_.collect_done(exchange.run);
  const auto first =
      std::min_element(doubts.begin(), doubts.end(), [](const auto& one, const auto& other) { return one.step < other.step; });
  told_failures_.read_run(exchange.run, first->step);
  doubt.left_open = std::any_of(exchange.verdict.suppressed.begin(), exchange.verdict.suppressed.end(), [&](const Suppression& told) {
    return !told.confidence && std::find(kLeft.begin(), kLeft.end(), told.rule) != kLeft.end();
  });
  last_owned_up_ = made_good_.last_owned_up(exchange.run, first->step);
  shared_of_known_ = false;
  for (const auto& failed : doubts) {
    if (rules_.no_claim && message.place < failed.step) continue;  // the message was there before
    if (told_failures_.taken_back(exchange.run, failed.step)) continue;
    doubt.failed = failed;
    doubt.found = !exchange.verdict.findings.empty() && exchange.verdict.findings.front().primary_step == failed.step;
    measures_.clear(exchange.whole.explanation != nullptr);
    measure_rules(exchange.verdict, kCandidates, kSilences, failed.step, measures_);
    measure_failure(exchange.run, failed);
    measure_telling(exchange.run, failed, message);
    told_failures_.measure(exchange.run, failed.step, measures_);
    measures_.add_count("messages_after", exchange.messages_after);
    take(doubt);
  }
}

/// The calls that failed and that a later one made good, in a run whose calls are in the scene.
std::vector<std::size_t> FalseSuccess::collect_made_good(const RunView& run) {
  constexpr std::size_t kMost = 8;  // each check scans the whole run
  std::vector<std::size_t> out;
  std::size_t asked = 0;
  const auto last = find_final_message(run, rules_.lexicon, scene_.reading);
  for (auto failed = scene_.failed.rbegin(); failed != scene_.failed.rend(); ++failed) {
    if (failed->recovered) {
      out.push_back(failed->step);
    } else if (run.steps[failed->step].kind == Kind::kTool && asked++ < kMost) {
      const auto silenced = made_good_.silence(run, *failed, last);
      if (silenced && silenced->rule == "recovery") out.push_back(failed->step);
    }
  }
  return out;
}

/// Visits the doubts of the last exchanges, of earlier ones as they were before the user went on, up to a message that admits something or
/// hands over: it takes back what was said before.
void FalseSuccess::visit_all(const RunView& run, const Verdict& verdict, const std::function<void(const Doubt&)>& take) {
  constexpr std::size_t kMostMessages = 3, kMostOutputs = 32, kMostSteps = 1000;  // an earlier message costs judging all before it anew
  outputs_to_read_ = kMostOutputs;
  undone_.assign(run.steps.size(), -1);
  failures_ = scene_.failures;
  told_failures_.read_later({});
  visit_exchange({run, run, verdict, {}, 0, 0}, take);
  if (!rules_.standing_claim || run.steps.size() > kMostSteps || scene_.reading.admits() || scene_.reading.hands_over()) return;
  const auto messages = told_messages(run);
  const auto last = std::min(scene_.told_place, run.steps.size());
  const auto first = first_in_doubt(run, 0, last);
  std::optional<std::vector<std::size_t>> made_good;
  std::size_t after = 0;
  for (auto message = messages.begin(); message != messages.end() && after + 1 < kMostMessages; ++message) {
    if (message->step == kNoStep || message->step >= last) continue;
    if (message->step <= first) return;
    ++after;
    read(message->text, rules_.lexicon, scene_.reading);
    if (scene_.reading.admits() || scene_.reading.hands_over()) return;
    const auto before = std::find_if(message + 1, messages.end(), [](const FinalMessage& told) { return told.step != kNoStep; });
    const auto begin = before == messages.end() ? 0 : before->step;
    if (!message_tells() || !may_have_failed(run, begin, message->step)) continue;
    if (!made_good) made_good = collect_made_good(run);
    told_failures_.read_later({messages.begin(), message});
    const auto then = up_to(run, message->step);
    Verdict so_far;
    if (judge(then, so_far)) visit_exchange({then, run, so_far, *made_good, begin, after}, take);
  }
}

bool FalseSuccess::visit_doubts(const RunView& run, const std::function<void(const Doubt&)>& take) {
  Verdict verdict;
  if (judge(run, verdict)) visit_all(run, verdict, take);
  return !verdict.findings.empty();
}

std::span<const std::string_view> FalseSuccess::weights_of() {
  return kWeights.measures;
}

/// Judges a run with all calls counted as failed whose outputs read as a refusal.
Verdict FalseSuccess::judge_as_read(const RunView& run) {
  Verdict verdict;
  std::vector<std::size_t> refused;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    if (failures_[i] != Failure::kNone || undone_[i] < kRefuses || is_repeated(run, i)) continue;
    if (outcomes_.may_refuse_in_words(run.steps[i])) refused.push_back(i);
  }
  if (refused.empty()) return verdict;
  auto quiet = run;
  quiet.explanation = nullptr;
  outcomes_.collect(quiet);
  outcomes_.mark_failed(refused);
  (void)judge_outcomes(quiet, verdict);
  return verdict;
}

std::size_t FalseSuccess::found_as_read(const RunView& run) {
  const auto verdict = judge_as_read(run);
  return verdict.findings.empty() ? kNoStep : verdict.findings.front().primary_step;
}

/// Computes the confidence from everything known about each doubt, with weights learned on labeled runs, where no rule is sure. Fires on
/// the surest; a little below the line where another rule left a candidate for the same call and the message asks nothing, and from the
/// line of `wide` on where a rule is sure as well: of an earlier message when it was the last, or when all calls that read as refused count
/// as failed.
void FalseSuccess::weigh(const RunView& run, Verdict& verdict) {
  constexpr double kUntold = 0.55, kNearly = 0.55;
  if (!verdict.findings.empty()) return;
  double surest = -1;
  Doubt of;
  std::string why;
  std::vector<std::size_t> likely;
  visit_all(run, verdict, [&](const Doubt& doubt) {
    const double weighed = kWeights.confidence(measures_.values());
    // Whatever the rest tells, a message that tells no deed claims nothing that failed.
    double sure = doubt.tells && !doubt.left_open && !doubt.failed.recovered ? weighed : std::min(weighed, kUntold);
    if (doubt.found && weighed >= FiringLine::kWide) sure = std::max(weighed, FiringLine::kBalanced);
    if (doubt.messages_after == 0 && weighed >= FiringLine::kWide) likely.push_back(doubt.failed.step);
    if (sure <= surest) return;
    surest = sure;
    of = doubt;
    why = measures_.text();
  });
  if (surest < 0) return;
  if (run.explanation != nullptr) run.explanation->rule("weighed", "no", of.failed.step, why, surest);
  if (surest < FiringLine::kCandidate) verdict.withdraw_candidates(kCandidates, kUnlikely);
  if (surest < FiringLine::kWide) return;
  const FiringLine::Doubt doubt{"weighed", of.failed.step, "all facts about this failure taken together make it likely"};
  if (surest < FiringLine::kBalanced && !likely.empty()) {
    auto as_read = judge_as_read(run);
    if (!as_read.findings.empty() && std::find(likely.begin(), likely.end(), as_read.findings.front().primary_step) != likely.end()) {
      if (rules_.line.fires(FiringLine::kBalanced, doubt, verdict)) verdict.findings.push_back(std::move(as_read.findings.front()));
      return;
    }
  }
  if (surest >= kNearly && !of.offers && doubted_by_another(doubt.step, verdict)) surest = std::max(surest, FiringLine::kBalanced);
  if (!rules_.line.fires(surest, doubt, verdict)) return;
  verdict.fire(outcomes_.finding(run, of.failed, of.message), surest);
}

}  // namespace runwarden::plugins
