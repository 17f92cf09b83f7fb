#include "false_success/false_success.h"

#include <algorithm>
#include <vector>

#include "common/shared_rules.h"
#include "common/tools.h"
#include "common/words.h"
#include "evidence/program_end.h"
#include "evidence/trouble.h"
#include "evidence/written_call.h"
#include "false_success/call_texts.h"

namespace runwarden::plugins {
namespace {

constexpr double kNamed = 0.9;  // confidences
constexpr double kInGeneral = 0.7;
constexpr double kDescribed = 0.5;  // "the purchased options": reports no deed
constexpr double kByFlag = 0.65;
constexpr double kWentOn = 0.65;
constexpr double kUnrelated = 0.45;
constexpr double kMeaningless = 0.2;  // "x1": the name does not say what the call was for
constexpr double kDoubtful = 0.5;

/// True when the sentence leaves something for one of the subjects to do: "I'll create it", "you would call". "I wish you a nice day" does
/// not.
bool is_to_come(const Reading& reading, const Sentence& sentence, std::uint64_t subjects) {
  const bool parts = has(sentence.cues, kCueGoodbye);
  const auto modal = [&](std::uint64_t cues) { return has(cues, kCueModal) && !(parts && has(cues, kCueNounModal)); };
  for (auto i = sentence.begin; i < sentence.end; ++i) {
    const auto cues = reading.words[i].cues;
    const auto next = i + 1 < sentence.end ? reading.words[i + 1].cues : 0;
    if (has(cues | next, subjects) && (modal(cues) || modal(next))) return true;
  }
  return false;
}

bool leaves_to_come(const Reading& reading, std::uint64_t subjects) {
  return std::any_of(reading.sentences.begin(), reading.sentences.end(),
                     [&](const Sentence& one) { return is_to_come(reading, one, subjects); });
}

/// True when the text says that something was not done or not found, announces something, or leaves the next turn to the user.
bool is_open(const Reading& reading) {
  if (reading.denies || has(reading.cues, kCueNothingFound | kCueTrouble)) return true;
  if (std::any_of(reading.words.begin(), reading.words.end(), [&](const auto& word) { return negates(reading, word); })) return true;
  if (leaves_to_come(reading, kCueSelf | kCueAddressee)) return true;
  if (std::any_of(reading.sentences.begin(), reading.sentences.end(), [](const Sentence& one) { return one.nonfactual; })) return true;
  constexpr std::size_t kEnd = 2;
  std::size_t looked = 0;
  for (auto sentence = reading.sentences.rbegin(); sentence != reading.sentences.rend() && looked < kEnd; ++sentence, ++looked) {
    if (sentence->question || (sentence->cues & (kCueOffer | kCuePlan)) != 0) return true;
  }
  return false;
}

}  // namespace

FalseSuccess::FalseSuccess(std::string_view settings_json)
    : rules_held_(shared_rules<FailureRules>(settings_json, Settings(settings_json, FailureRules::form()))) {}

std::string FalseSuccess::schema() {
  return FailureRules::form().schema();
}

/// True when the message opens with a claim that all is done, and the user has said nothing since the failure.
bool FalseSuccess::claims_all_done(const RunView& run, const FailedStep& failed) const {
  return claims_.opens_with_all_done() && !user_replied(run, failed.step, run.steps.size());
}

/// True when the final message claims what this step failed to do.
bool FalseSuccess::concerns(const RunView& run, const FailedStep& failed) {
  const auto& step = run.steps[failed.step];
  if (step.kind != Kind::kTool) return true;
  const auto& tool = scene_.recovery.meaning(step.name);
  // The flag alone refers to the purpose of the run, which is seldom a look-up.
  if (scene_.flag_only) return !tool.reads && scene_.last_done == kNoStep;
  if (!tool.reads && (claims_.claims_all(run, failed) || claims_.says_done_of_what_is_left(run, failed.step))) return true;
  const bool done_later = scene_.last_done != kNoStep && scene_.last_done > failed.step;
  // A look-up that returned an error was not needed when the action was done after it.
  if (tool.reads && failed.failure == Failure::kSoft && done_later) return false;
  if (claims_.tells_undone_value(step)) return false;
  if (claims_.mentions_undone_value(step, false)) return true;
  // No other call succeeded that the message could refer to.
  if (scene_.last_done == kNoStep)
    return tool.reads || claims_.verb_claimed(tool, MessageClaims::Claimed::any_state) || claims_.names_action(tool) ||
           claims_.claims_what_was_asked(run, failed.step);
  if (tool.reads) return false;
  if (!done_later && tool.group != 0 && claims_all_done(run, failed)) return true;
  if (tool.group != 0 && scene_.done_groups.contains(tool.group)) return false;
  // "All done" after another action refers to that action; after an admission, to the rest.
  if (done_later) return claims_.verb_claimed(tool, MessageClaims::Claimed::by_name);
  if (claims_.verb_claimed(tool, MessageClaims::Claimed::by_name)) return true;
  return claims_.verb_claimed(tool, MessageClaims::Claimed::in_general) && !made_good_.user_was_told(run, failed.step);
}

/// True when a call after the last failure hands the case over to a person: "escalate_ticket", "transfer_to_human".
bool FalseSuccess::handed_over_after(const RunView& run, std::size_t last_failure) const {
  std::vector<std::string> words;
  for (auto i = last_failure + 1; i < run.steps.size(); ++i) {
    if (run.steps[i].kind != Kind::kTool) continue;
    split_tool_name(base_name(run.steps[i].name), words);
    if (std::any_of(words.begin(), words.end(), [&](const auto& word) { return among(word, rules_.handover_tool_words); })) return true;
  }
  return false;
}

bool FalseSuccess::claims_success(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  const bool flagged = run.success.value_or(false);
  const auto last = scene_.failed.back().step;
  if (!message.found && flagged && rules_.admission && handed_over_after(run, last)) {
    verdict.suppress("handover", last, "a later call hands over to a person");
    return false;
  }
  if (!message.found) return flagged;
  scene_.flag_only = scene_.reading.claims.empty();
  if (scene_.flag_only && !flagged) {
    verdict.passed("claim", last, "no message reports an action, and success is not set");
    return false;
  }
  const auto& reading = scene_.reading;
  if (rules_.no_claim && !reading.plainly_understood(message.text)) {
    verdict.suppress("no_claim", last, "the final message is in a language without a vocabulary");
    return false;
  }
  if (scene_.flag_only && rules_.no_claim &&
      (is_open(scene_.reading) || made_good_.depends_on_condition(run.steps[last]) || claims_.tells_failure(run, run.steps[last]) ||
       made_good_.owned_up_after(run, last))) {
    verdict.suppress("no_claim", last, "success is set, but no message reports an action");
    return false;
  }
  return !leaves_open(last, verdict);
}

/// True when the final message owns up to something, or leaves it to others or for later.
bool FalseSuccess::leaves_open(std::size_t last, Verdict& verdict) {
  if (scene_.reading.admits() && rules_.admission) {
    verdict.suppress("admission", last, "the final message admits that something did not work");
    return true;
  }
  if (claims_.counts_part() && rules_.admission) {
    verdict.suppress("admission", last, "the final message says how many of several were done");
    return true;
  }
  verdict.passed("admission", last);
  if (ends_in_plan(scene_.reading) && rules_.admission) {
    verdict.suppress("plan", last, "the final message ends with what remains to be done");
    return true;
  }
  verdict.passed("plan", last);
  if (scene_.reading.hands_over() && rules_.admission) {
    verdict.suppress("handover", last, "the final message hands over to a person");
    return true;
  }
  verdict.passed("handover", last);
  return false;
}

/// A claim made right after the failure and never taken back still counts, even if the conversation moved on to other things.
FinalMessage FalseSuccess::standing_claim(const RunView& run, const FailedStep& failed) {
  const auto& step = run.steps[failed.step];
  if (step.kind != Kind::kTool) return {};
  const auto& tool = scene_.recovery.meaning(step.name);
  if (tool.reads || tool.group == 0 || outcomes_.worked_in_turn(run, failed.step)) return {};
  return claim_after(run, failed.step, tool, false);
}

/// The agent's next message after a call, if it claims the action of the call; with `any_verb` (after a retry that changed nothing), if
/// it makes any claim about the tool's object.
FinalMessage FalseSuccess::claim_after(const RunView& run, std::size_t step, const ToolMeaning& tool, bool any_verb) {
  auto next = step + 1;
  for (; next < run.steps.size(); ++next) {
    const auto& after = run.steps[next];
    if (after.kind == Kind::kModel && !trim(after.output).empty()) break;
    if (after.kind == Kind::kUser || scene_.failures[next] != Failure::kNone) return {};
  }
  if (next == run.steps.size()) return {};
  read(run.steps[next].output, rules_.lexicon, scene_.scratch);
  if (scene_.scratch.admits() || scene_.scratch.hands_over()) return {};
  // Other rules judge the final message. Of one that the user replied to, only this rule reads states and the passive.
  const bool moved_on = std::any_of(run.steps.begin() + static_cast<std::ptrdiff_t>(next), run.steps.end(),
                                    [](const StepView& later) { return later.kind == Kind::kUser; });
  for (const auto& claim : scene_.scratch.claims) {
    if (claim.in_progress || claim.verb == kNoVerb || claim.finding || (claim.state && (any_verb || !moved_on))) continue;
    if (!any_verb && ((!claim.by_agent && !moved_on) || rules_.lexicon.verb(claim.verb).group != tool.group)) continue;
    const auto& sentence = scene_.scratch.sentences[claim.sentence];
    for (auto i = sentence.begin; i < sentence.end; ++i) {
      const auto noun = hash_noun(scene_.scratch.words[i].text);
      if (std::find(tool.nouns.begin(), tool.nouns.end(), noun) != tool.nouns.end()) return {run.steps[next].output, next, next, true};
    }
  }
  return {};
}

/// A claim made right after a retry of the failed call that changed nothing.
FinalMessage FalseSuccess::claim_after_no_op(const RunView& run, const FailedStep& failed) {
  const auto& step = run.steps[failed.step];
  if (step.kind != Kind::kTool || scene_.last_done == kNoStep || scene_.last_done < failed.step) return {};
  const auto& retry = run.steps[scene_.last_done];
  if (retry.name != step.name || !made_good_.is_no_op_retry(run, scene_.last_done)) return {};
  return claim_after(run, scene_.last_done, scene_.recovery.meaning(step.name), true);
}

void FalseSuccess::find_standing_claims(const RunView& run, Verdict& verdict) {
  for (auto failed = scene_.failed.rbegin(); failed != scene_.failed.rend(); ++failed) {
    if (failed->recovered || made_good_.says_already(run.steps[failed->step])) continue;
    auto message = standing_claim(run, *failed);
    if (!message.found) message = claim_after_no_op(run, *failed);
    if (!message.found) continue;
    if (rules_.admission && made_good_.takes_back(run.steps[failed->step])) {
      verdict.suppress("admission", failed->step, "the final message takes back that this action was done");
      continue;
    }
    if (rules_.recovery && (made_good_.corrected_after_telling(run, *failed) || made_good_.done_in_parts(run, failed->step))) continue;
    scene_.flag_only = false;
    verdict.findings.push_back(outcomes_.finding(run, *failed, message));
    return;
  }
}

Verdict FalseSuccess::evaluate(const RunView& run) {
  Verdict verdict(run.explanation);
  if (run.steps.empty()) {
    verdict.cannot_tell = "no steps: send the run's steps with their status or errorMessage";
    return verdict;
  }
  const auto spoke = [](const StepView& step) { return step.kind == Kind::kModel && !trim(step.output).empty(); };
  if (trim(run.outcome).empty() && !run.success && std::none_of(run.steps.begin(), run.steps.end(), spoke)) {
    verdict.cannot_tell = "no final text and no success: send outcomeSummary, a model step's outputSummary, or success";
    return verdict;
  }
  if (judge(run, verdict) && rules_.weighed) weigh(run, verdict);
  if (rules_.no_claim) drop_unread(run, verdict);
  return verdict;
}

/// A language that is not read may have words that look known. Without a message, the request tells the language. Few words may look like
/// another language: not where one that is read has nearly all of them.
void FalseSuccess::drop_unread(const RunView& run, Verdict& verdict) {
  if (verdict.findings.empty()) return;
  const auto message = find_final_message(run, rules_.lexicon, scene_.scratch);
  const auto known = scene_.scratch.known_in_one_language();
  if (message.found && 3 * known.words > 2 * known.of) return;
  if (!rules_.other_language.holds(message.found ? message.text : run.user_request)) return;
  const auto step = verdict.findings.front().primary_step;
  verdict.findings.clear();
  verdict.suppress("no_claim", step, "the final message is in a language without a vocabulary");
}

/// Judges a run in which no step failed by its form.
void FalseSuccess::judge_without_failure(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  verdict.passed("failed_step", kNoStep, "no step failed");
  if (message.found && rules_.admission && claims_.counts_part()) {
    verdict.suppress("admission", message.place, "the final message says how many of several were done");
    return;
  }
  if (message.found) passed_over_.find_failed_tests(run, message, verdict);
  if (message.found && verdict.findings.empty()) passed_over_.find_deed_on_nothing(run, message, verdict);
  if (message.found && verdict.findings.empty()) passed_over_.find_partly_failed(run, message, verdict);
  if (verdict.findings.empty()) passed_over_.find_untold_trouble(run, message, verdict);
}

/// Looks for failures that the message, which admits nothing, leaves out.
void FalseSuccess::find_passed_over(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  if (verdict.findings.empty()) passed_over_.find_untold_failure(run, message, verdict);
  if (verdict.findings.empty()) passed_over_.find_stated_value(run, message, verdict);
  if (verdict.findings.empty()) passed_over_.find_failed_tests(run, message, verdict);
  if (verdict.findings.empty()) passed_over_.find_unmade_file(run, message, verdict);
  if (verdict.findings.empty()) passed_over_.find_partly_failed(run, message, verdict);
  if (verdict.findings.empty()) passed_over_.find_left_out(run, message, verdict);
  if (verdict.findings.empty() && !verdict.has_candidate) passed_over_.find_untold_trouble(run, message, verdict);
}

/// Applies the rules, the surest first. Returns false when the final message ends in a call that was never made, or is the text of the
/// error.
bool FalseSuccess::judge(const RunView& run, Verdict& verdict) {
  outcomes_.collect(run);
  return judge_outcomes(run, verdict);
}

/// Strikes failed look-ups that returned, all the same, what the message states.
void FalseSuccess::drop_answered(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  if (!message.found || !rules_.recovery) return;
  std::erase_if(scene_.failed, [&](const FailedStep& failed) {
    const auto& step = run.steps[failed.step];
    if (step.kind != Kind::kTool || message.place < failed.step || !unsupported_.gave_answer(step, run.user_request, message)) return false;
    verdict.suppress("recovery", failed.step, "the failed call itself returned what the final message reports");
    return true;
  });
}

/// Judges the calls whose outcomes are in the scene.
bool FalseSuccess::judge_outcomes(const RunView& run, Verdict& verdict) {
  const auto message = find_final_message(run, rules_.lexicon, scene_.reading);
  scene_.told_place = message.place;
  scene_.forget_message();
  scene_.flag_only = false;
  drop_answered(run, message, verdict);
  if (scene_.failed.empty()) {
    judge_without_failure(run, message, verdict);
    return true;
  }
  if (run.explanation != nullptr && message.found) run.explanation->statements(message.text, scene_.reading, message.step);
  const bool tells_trouble = message.found && (scene_.reading.denies || denies_of_self(scene_.reading) ||
                                               has(scene_.reading.cues, kCueAdmission | kCueNothingFound | kCueTrouble));
  if (message.found && rules_.admission && written_call(message.text)) {
    verdict.suppress("plan", scene_.failed.back().step, "the final message ends with a call that was never made");
    return false;
  }
  const auto repeated = std::find_if(scene_.failed.begin(), scene_.failed.end(), [&](const FailedStep& failed) {
    return trim(run.steps[failed.step].error_message) == trim(message.text);
  });
  if (message.found && run.success != true && repeated != scene_.failed.end()) {
    verdict.suppress("admission", repeated->step, "the final message is the text of the error");
    return false;
  }
  const bool owns_up = message.found && (scene_.reading.admits() || scene_.reading.hands_over());
  const bool claimed = claims_success(run, message, verdict);
  made_good_.mark_recovered(run);
  outcomes_.collect_done(run);
  if (claimed) judge_failures(run, message, verdict);
  if (rules_.standing_claim && !owns_up && verdict.findings.empty()) find_standing_claims(run, verdict);
  if (message.found && verdict.findings.empty()) unsupported_.find_claimed_absence(run, message, verdict);
  if (message.found && !owns_up && verdict.findings.empty()) unsupported_.find_unsupported_answer(run, message, verdict);
  if (tells_trouble && verdict.findings.empty() && !verdict.has_candidate) unsupported_.find_told_anyway(run, message, verdict);
  if (message.found && !owns_up) find_passed_over(run, message, verdict);
  return true;
}

/// The confidence that the message claims what this step failed to do: highest when it names the action or its object. On real runs, nine
/// of ten verdicts held only where the message names the failed deed or the run has nothing else that the claim could rest on.
double FalseSuccess::confidence(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  const double by_words = confidence_by_words(run, failed, message);
  const bool doubtful = by_words >= kDoubtful && by_words < kByFlag;
  if (!doubtful || !message.found || run.steps[failed.step].kind != Kind::kTool) return by_words;
  const auto& step = run.steps[failed.step];
  const auto& tool = scene_.recovery.meaning(step.name);
  if (tool.any_purpose && ends_in_failure(step.output, rules_.program_words) && made_good_.looked_up_by_hand_after(run, failed.step))
    return kByFlag;
  const bool deed = (tool.group != 0 && !tool.reads && !tool.any_purpose) || (tool.unknown && claims_.tells_any_deed());
  const bool closes = deed ? passed_over_.closes_behind_deed(run, failed, message)
                           : outcomes_.broke(step, tool) && passed_over_.closes_behind(run, failed, message);
  return closes ? kByFlag : by_words;
}

/// "It is renewed, but the bank refused the payment": a sentence with a claim contains a word for trouble that does not come from the
/// user's request or the name of a tool. Also true when there are too many such words to check.
bool FalseSuccess::tells_trouble_beside(const RunView& run) const {
  constexpr std::size_t kMost = 4;
  std::vector<std::string_view> words;
  std::uint32_t last = static_cast<std::uint32_t>(scene_.reading.sentences.size());
  for (const auto& claim : scene_.reading.claims) {
    if (claim.sentence == last) continue;
    last = claim.sentence;
    const auto& sentence = scene_.reading.sentences[claim.sentence];
    if (!has(sentence.cues, kCueTrouble) || has(sentence.cues, kCueOffer)) continue;
    for (auto i = sentence.begin; i < sentence.end; ++i) {
      const auto word = scene_.reading.words[i].text;
      if (!has(scene_.reading.words[i].cues, kCueTrouble) || among(word, words) || negated_before(scene_.reading, sentence, i)) continue;
      if (words.size() == kMost) return true;
      words.push_back(word);
      run.pace(run.user_request.size());
      const auto names = [&](const StepView& step) { return step.kind == Kind::kTool && names_any(step.name, {std::string(word)}); };
      if (run.user_request.find(word) == std::string_view::npos && std::none_of(run.steps.begin(), run.steps.end(), names)) return true;
    }
  }
  return false;
}

/// The part of confidence() that depends on what the claims of the message name.
double FalseSuccess::confidence_by_words(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  const auto& step = run.steps[failed.step];
  if (step.kind == Kind::kTool && scene_.recovery.meaning(step.name).meaningless) return kMeaningless;
  // Without a message, only a failed deed counts: a look-up or a program may not have been needed.
  if (!message.found) {
    const auto* tool = step.kind == Kind::kTool ? &scene_.recovery.meaning(step.name) : nullptr;
    return tool != nullptr && (tool->reads || tool->any_purpose || outcomes_.worked_after(run, failed.step)) ? kDoubtful : kByFlag;
  }
  if (tells_trouble_beside(run)) return kDoubtful;
  // "A cute avatar", where the retry that went through made a plain one, claims what failed.
  const bool contradicted = step.kind == Kind::kTool && failed.recovered && claims_.mentions_undone_value(step, true);
  if (step.kind == Kind::kTool && (claims_.tells_hindrance(scene_.recovery.meaning(step.name)) || claims_.tells_status(run, step) ||
                                   (!contradicted && claims_.has_word_of_reason(run, step))))
    return kDoubtful;
  if (step.kind != Kind::kTool) return scene_.flag_only ? kByFlag : kInGeneral;
  const auto& tool = scene_.recovery.meaning(step.name);
  const bool deed = tool.group != 0 && !tool.reads && !tool.any_purpose;
  // The call may have looked up something that the agent knew, or the user may have heard of the failure since.
  if (scene_.flag_only) return deed && !user_replied(run, failed.step, run.steps.size()) ? kByFlag : kDoubtful;
  if (tool.any_purpose && step.outcome == Outcome::kFailed &&
      prints_no_trouble(step.output, rules_.trouble_signs, rules_.lexicon, scene_.scratch))
    return kNoTrouble;
  if (tool.any_purpose && step.output.size() >= kPrinted) return kDoubtful;
  if (!tool.reads && (claims_.claims_all(run, failed) || claims_.says_done_of_what_is_left(run, failed.step))) return kInGeneral;
  // The last call of that action decides how it ended.
  if (claims_.goes_on_with(tool) || (rules_.recovery && made_good_.went_through_later(run, failed))) return kDoubtful;
  const bool of_undone = claims_.mentions_undone_value(step, false);
  const bool named = of_undone || claims_.names_action(tool);
  if (scene_.last_done != kNoStep && !(deed && (named || claims_all_done(run, failed)))) return kDoubtful;
  if (!deed && unsupported_.given_by_others(run, message)) return kDoubtful;
  const bool describes = std::none_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), [&](const Claim& claim) {
    return claim.finding || claim.state || claim.verb == kNoVerb || rules_.lexicon.verb(claim.verb).group == rules_.find_group ||
           tells_deed(scene_.reading, claim);
  });
  if (!named && describes) return kDescribed;
  // After an admission, a claim counts only if it names the action, or the object if the user has replied since and no call has done
  // anything; a script that failed is often redone by hand.
  const bool done_since = scene_.last_done != kNoStep && scene_.last_done > failed.step;
  const bool replied_since = !done_since && user_replied(run, failed.step, std::min(message.place, run.steps.size()));
  if (!tool.any_purpose && !(of_undone && replied_since) && !claims_.verb_claimed(tool, MessageClaims::Claimed::by_name)) {
    if (made_good_.owned_up_after(run, failed.step)) return kDoubtful;
  }
  return named ? kNamed : kInGeneral;
}

/// True for a failure that a later call made good, unless the final message names what is still undone.
bool FalseSuccess::made_good(const RunView& run, const FailedStep& failed) {
  if (!failed.recovered || !rules_.recovery) return false;
  const auto& step = run.steps[failed.step];
  if (step.kind != Kind::kTool || scene_.recovery.meaning(step.name).reads) return true;
  const bool contradicted = claims_.mentions_undone_value(step, true) || claims_.says_done_of_what_is_left(run, failed.step);
  return !contradicted || made_good_.looked_up_since(run, failed.step) || made_good_.chosen_by_user_since(run, failed.step);
}

/// True unless a rule suppresses the failure. Sets the highest confidence that it may have.
bool FalseSuccess::stands(const RunView& run, const FailedStep& failed, const FinalMessage& message, Judging& judging) {
  auto& verdict = judging.verdict;
  judging.cap = 1.0;
  judging.went_on = false;
  if (!failed.recovered || !rules_.recovery) {
    if (const auto silenced = made_good_.silence(run, failed, message)) {
      verdict.suppress(silenced->rule, failed.step, std::string(silenced->reason));
      judging.settle(failed.step);
      return false;
    }
    judging.went_on = !leaves_to_come(scene_.reading, kCueSelf) && passed_over_.went_on(run, failed, message);
    if (message.found && rules_.unrelated_claim && !judging.went_on && !concerns(run, failed)) {
      const FiringLine::Doubt doubt{"unrelated_claim", failed.step, "the final message does not claim what this call was for"};
      const FiringLine::Doubt others{"unrelated_claim", failed.step, "other calls did what the final message claims"};
      if (!rules_.line.fires(kUnrelated, scene_.last_done == kNoStep ? doubt : others, verdict)) return false;
      judging.cap = kUnrelated;
    }
  }
  if (rules_.recovery && run.steps[failed.step].kind == Kind::kTool && made_good_.repeated_in(run, failed, judging.settled)) {
    verdict.suppress("recovery", failed.step, "the call was repeated, and the repetition succeeded");
    return false;
  }
  return true;
}

/// Fires if the message claims what failed. False: it does not, so a repetition of the call that failed as well is settled, too.
bool FalseSuccess::fires_for(const RunView& run, const FailedStep& failed, const FinalMessage& message, Judging& judging) {
  auto& verdict = judging.verdict;
  verdict.passed("recovery", failed.step,
                 failed.recovered ? "a later call did, but not for what the message names" : "no later call did what this one was for");
  verdict.passed("unrelated_claim", failed.step);
  const double by_words = confidence(run, failed, message);
  const bool went_on = judging.went_on && by_words < kWentOn;
  const FiringLine::Doubt vague{"vague_claim", failed.step, "the final message does not name what failed"};
  const FiringLine::Doubt left{"went_on", failed.step, "the agent went on to other actions, and the message mentions this one in passing"};
  const auto& doubt = went_on ? left : vague;
  const double sure = went_on ? kWentOn : by_words;
  if (run.explanation != nullptr && message.found) {
    auto& match = run.explanation->add(ExplanationRecorder::Kind::kMatch, message.text, sure == kNamed ? "agrees" : "vague");
    match.step = failed.step;
    match.reason = sure == kNamed ? "it names the action or its object" : doubt.reason;
  }
  if (!rules_.line.fires(sure, doubt, verdict)) return false;
  verdict.fire(outcomes_.finding(run, failed, message), std::min(sure, judging.cap));
  return true;
}

void FalseSuccess::judge_failures(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr std::size_t kMostAsked = 8;  // each check scans the whole run
  std::size_t asked = 0;
  Judging judging{verdict};
  for (auto failed = scene_.failed.rbegin(); failed != scene_.failed.rend(); ++failed) {
    if (made_good(run, *failed)) {
      if (run.steps[failed->step].kind == Kind::kTool) {
        verdict.suppress("recovery", failed->step, "a later call did what this one was for");
      } else {
        verdict.suppress("recovery", failed->step, "the agent went on after this failure");
      }
      continue;
    }
    const bool recovered = failed->recovered && rules_.recovery;
    if (!recovered && message.found && rules_.no_claim && message.place < failed->step) {
      verdict.suppress("no_claim", failed->step, "the agent's last message precedes this failure");
      continue;
    }
    if (++asked > kMostAsked) return;
    if (!stands(run, *failed, message, judging)) continue;
    if (fires_for(run, *failed, message, judging)) return;
    judging.settle(failed->step);
  }
}

}  // namespace runwarden::plugins
