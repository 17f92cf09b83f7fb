#include <algorithm>
#include <array>

#include "evidence/trees.h"
#include "false_success/false_success.h"
#include "false_success/weights.inc"

namespace runwarden::plugins {
namespace {

constexpr std::array<std::string_view, 5> kCandidates = {"vague_claim", "unrelated_claim", "unsupported_answer", "untold_failure",
                                                         "untold_trouble"};
constexpr std::array<std::string_view, 5> kSilences = {"recovery", "admission", "plan", "handover", "no_claim"};

}  // namespace

/// The failure to evaluate with the weights: that of the surest candidate, or nullopt when the rules left no candidate.
std::optional<FailedStep> FalseSuccess::doubtful(const Verdict& verdict) const {
  const auto* surest = verdict.surest_candidate();
  if (surest == nullptr) return std::nullopt;
  const auto known =
      std::find_if(scene_.failed.begin(), scene_.failed.end(), [&](const FailedStep& failed) { return failed.step == surest->step; });
  return known != scene_.failed.end() ? *known : FailedStep{surest->step, Failure::kSoft, false};
}

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
  constexpr std::size_t kMuch = 1000;  // bytes
  measures_.add_flag("printed_much", step.output.size() > kMuch);
  measure_calls_around(run, failed.step);
  measures_.add_flag("talked_since", user_replied(run, failed.step, run.steps.size()));
  measures_.add_flag("owned_up_after", made_good_.owned_up_after(run, failed.step));
  measures_.add_flag("user_was_told", made_good_.user_was_told(run, failed.step));
  measures_.add_flag("went_through_later", tool && made_good_.went_through_later(run, failed));
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
  const auto& tool = scene_.recovery.meaning(step.name);
  measure_message(scene_.reading, "message_", measures_);
  claims_.index_told();
  measures_.add_flag("message_after", message.place > failed.step);
  measures_.add_flag("names_action", claims_.names_action(tool));
  measures_.add_flag("claims_by_name", claims_.verb_claimed(tool, MessageClaims::Claimed::by_name));
  measures_.add_flag("claims_in_general", claims_.verb_claimed(tool, MessageClaims::Claimed::in_general));
  measures_.add_flag("names_value", claims_.mentions_undone_value(step, false));
  measures_.add_flag("denies_value", claims_.tells_undone_value(step));
  measures_.add_flag("tells_hindrance", claims_.tells_hindrance(tool));
  measures_.add_flag("word_of_reason", claims_.has_word_of_reason(run, step));
  measures_.add_flag("gives_reason", claims_.gives_its_reason(step));
  measures_.add_flag("code_of_failure", claims_.tells_failure(run, step));
  measures_.add_flag("speaks_of", claims_.speaks_of(run, step));
  measures_.add_flag("word_of_input", claims_.tells_word_of(step.input));
  measures_.add_flag("own_deed", claims_.tells_own_deed());
  measures_.add_flag("any_deed", claims_.tells_any_deed());
  measures_.add_flag("goes_on_with", claims_.goes_on_with(tool));
  measures_.add_flag("left_to_user", claims_.leaves_it_to_user(tool));
  measures_.add_flag("claims_thing", passed_over_.claims_thing_of(run, failed));
  measures_.add_flag("own_trouble", claims_.tells_own_trouble(run, message.place));
  std::vector<bool> changes(run.steps.size());
  std::vector<bool> undone(run.steps.size());
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    undone[i] = scene_.failures[i] != Failure::kNone || i == failed.step;
    changes[i] = run.steps[i].kind == Kind::kTool && !scene_.recovery.meaning(run.steps[i].name).reads;
  }
  measure_shared_words(run, message.text, undone, changes, measures_);
  measure_user(run, measures_);
  measures_.add_flag("flagged", run.success.value_or(false));
  // The agent's message before it.
  const auto before = message_before(run, message);
  read(before == kNoStep ? std::string_view{} : run.steps[before].output, rules_.lexicon, scene_.scratch);
  measure_message(scene_.scratch, "before_", measures_);
  measures_.add_flag("before_is_after_failure", before != kNoStep && before > failed.step);
}

std::span<const std::string_view> FalseSuccess::weights_of() {
  return kWeights.measures;
}

/// When no rule was sure but one left a candidate: computes the confidence from everything known about the failure, with weights learned
/// on labeled runs.
void FalseSuccess::weigh(const RunView& run, Verdict& verdict) {
  constexpr double kNoClaim = 0.55;
  const auto failed = doubtful(verdict);
  if (!failed) return;
  const auto message = find_final_message(run, rules_.lexicon, scene_.reading);
  if (!message.found || !scene_.reading.understood(message.text)) return;
  scene_.forget_message();
  scene_.flag_only = false;
  if (scene_.failed.empty()) outcomes_.collect_done(run);
  measures_.clear(run.explanation != nullptr);
  measure_rules(verdict, kCandidates, kSilences, failed->step, measures_);
  measure_failure(run, *failed);
  measure_telling(run, *failed, message);
  weighed_ = true;
  const double weighed = kWeights.confidence(measures_.values());
  // Whatever the rest tells, a message without a claim claims nothing that failed.
  const double sure = scene_.reading.claims.empty() ? std::min(weighed, kNoClaim) : weighed;
  if (run.explanation != nullptr) run.explanation->rule("weighed", "no", failed->step, measures_.text(), sure);
  if (sure < FiringLine::kCandidate) verdict.withdraw_candidates(kCandidates, kUnlikely);
  if (sure < FiringLine::kWide) return;
  if (!rules_.line.fires(sure, {"weighed", failed->step, "all facts about this failure taken together make it likely"}, verdict)) return;
  verdict.fire(outcomes_.finding(run, *failed, message), sure);
}

}  // namespace runwarden::plugins
