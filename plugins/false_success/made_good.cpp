#include "false_success/made_good.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "common/facts.h"
#include "common/json_scan.h"
#include "common/tools.h"
#include "common/words.h"
#include "evidence/artifacts.h"
#include "evidence/call_entities.h"
#include "evidence/commands.h"
#include "evidence/expression.h"
#include "evidence/trouble.h"
#include "evidence/undone.h"
#include "evidence/waiting.h"
#include "false_success/call_texts.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::ptrdiff_t kMostLookedUp = 8;  // values of a failed call to search for in later calls

}  // namespace

bool MadeGood::is_no_op_retry(const RunView& run, std::size_t at) {
  const auto& step = run.steps[at];
  if (!rules_.recovery || scene_.recovery.meaning(step.name).reads) return false;
  const auto* before = last_failed_call(run, at);
  if (before == nullptr) return false;
  collect_values(step.input, rules_.content.tools.calls, scene_.values);
  if (!changes_nothing(scene_.values, rules_.content.tools.calls)) return false;
  collect_values(before->input, rules_.content.tools.calls, scene_.values);
  return !changes_nothing(scene_.values, rules_.content.tools.calls);
}

/// The last failed call of the same tool before a step.
const StepView* MadeGood::last_failed_call(const RunView& run, std::size_t at) const {
  const auto later = std::lower_bound(scene_.failed.begin(), scene_.failed.end(), at,
                                      [](const FailedStep& failed, auto step) { return failed.step < step; });
  // Only the nearest few: a longer search would not be linear.
  constexpr std::ptrdiff_t kReach = 8;
  for (auto it = later; it != scene_.failed.begin() && later - it < kReach;) {
    const auto& failed = run.steps[(--it)->step];
    if (failed.kind == Kind::kTool && failed.name == run.steps[at].name) return &failed;
  }
  return nullptr;
}

/// True when a call was one of several to its tool, each with a different id: the success of the others says nothing about this call.
bool MadeGood::is_one_of_many(const RunView& run, std::size_t at) {
  constexpr std::size_t kMost = 16, kOthers = 2;
  const auto& step = run.steps[at];
  if (scene_.recovery.meaning(step.name).reads) return false;
  const auto is_id = [](std::string_view text) {
    return text.find_first_of(" @/") == std::string_view::npos && (has_digit(text) || text.find_first_of("._") != std::string_view::npos);
  };
  std::vector<CallValue> own;
  collect_values(step.input, rules_.content.tools.calls, own);
  std::erase_if(own, [&](const CallValue& value) { return value.key.empty() || value.text.size() > kLongestValue || !is_id(value.text); });
  if (own.empty() || own.size() > kMost) return false;
  std::vector<std::vector<std::uint64_t>> others(own.size());
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& other = run.steps[i];
    if (i == at || other.kind != Kind::kTool || other.name != step.name || scene_.failures[i] != Failure::kNone) continue;
    run.pace(other.input.size());
    collect_values(other.input, rules_.content.tools.calls, scene_.values);
    for (std::size_t k = 0; k < own.size(); ++k) {
      const auto same =
          std::find_if(scene_.values.begin(), scene_.values.end(), [&](const CallValue& value) { return value.key == own[k].key; });
      if (same != scene_.values.end() && is_id(same->text) &&
          std::find(others[k].begin(), others[k].end(), same->normal) == others[k].end())
        others[k].push_back(same->normal);
    }
  }
  for (std::size_t k = 0; k < own.size(); ++k) {
    const bool alone = std::find(others[k].begin(), others[k].end(), own[k].normal) == others[k].end();
    if (alone && others[k].size() >= kOthers) return true;
  }
  return false;
}

/// True when a command failed that changes something by its name, "git push", and no later call ran it again, or a program that may have
/// done the same.
bool MadeGood::is_command_left_undone(const RunView& run, std::size_t at) {
  const auto& names = rules_.content.tools.calls;
  const auto& step = run.steps[at];
  if (!scene_.recovery.meaning(step.name).runs_anything()) return false;
  std::vector<std::string> failed, later;
  collect_changing_commands(step.input, names, failed);
  if (failed.empty()) return false;
  const auto from = run.steps.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  return std::none_of(from, run.steps.end(), [&](const StepView& other) {
    const auto place = static_cast<std::size_t>(&other - run.steps.data());
    if (other.kind != Kind::kTool || scene_.failures[place] != Failure::kNone) return false;
    run.pace(other.input.size());
    if (!scene_.recovery.meaning(other.name).runs_anything()) return !scene_.recovery.meaning(other.name).reads;
    collect_changing_commands(other.input, names, later);
    if (later.empty()) return !only_look(other, names);
    return std::any_of(later.begin(), later.end(), [&](const auto& command) { return among(command, failed); });
  });
}

/// True when the message claims what the step is named after: "send_newsletter".
bool MadeGood::claims_deed_of(const StepView& step) const {
  const auto& tool = scene_.recovery.meaning(step.name);
  return !tool.reads && tool.group != 0 && claims_.verb_claimed(tool, MessageClaims::Claimed::by_name);
}

void MadeGood::mark_recovered(const RunView& run) {
  constexpr int kMostAsked = 8;
  int asked = 0;
  scene_.recovery.clear();
  bool model_spoke = false;
  auto failed = scene_.failed.rbegin();
  for (std::size_t i = run.steps.size(); i-- > 0;) {
    const auto& step = run.steps[i];
    run.pace(step.input.size() + step.output.size());
    if (failed != scene_.failed.rend() && failed->step == i) {
      failed->recovered = scene_.recovery.recovered(step);
      // What the model says makes up for its own failure, and for one of any other part of the agent unless it claims that part's deed.
      if (step.kind != Kind::kTool) failed->recovered |= model_spoke && (step.kind == Kind::kModel || !claims_deed_of(step));
      // Only the last few: each check scans the whole run.
      if (failed->recovered && step.kind == Kind::kTool && asked < kMostAsked) {
        ++asked;
        failed->recovered = !is_one_of_many(run, i) && !is_command_left_undone(run, i);
      }
      // "Already deleted": an earlier attempt succeeded.
      if (step.kind == Kind::kTool && !scene_.recovery.meaning(step.name).reads && says_already(step)) scene_.recovery.add(step);
      ++failed;
      continue;
    }
    // A successful write may return nothing.
    const bool acted = step.kind == Kind::kTool && scene_.failures[i] == Failure::kNone && !scene_.recovery.meaning(step.name).reads;
    if (step.kind == Kind::kTool && (acted || outcomes_.gave_something(run, i)) && !is_no_op_retry(run, i)) scene_.recovery.add(step);
    model_spoke |= step.kind == Kind::kModel && !trim(step.output).empty();
  }
}

bool MadeGood::corrected_after_telling(const RunView& run, const FailedStep& failed) {
  const auto& step = run.steps[failed.step];
  if (step.kind != Kind::kTool) return false;
  bool told = false;
  bool corrected = false;
  for (auto i = failed.step + 1; i < run.steps.size() && run.steps[i].kind != Kind::kUser && !corrected; ++i) {
    const auto& later = run.steps[i];
    corrected = told && later.kind == Kind::kTool && later.name == step.name && outcomes_.gave_something(run, i);
    if (later.kind != Kind::kModel || told) continue;
    read(later.output, rules_.lexicon, scene_.scratch);
    told = scene_.scratch.admits() || has(scene_.scratch.cues, kCueTrouble | kCueNothingFound);
  }
  return corrected;
}

bool MadeGood::user_was_told(const RunView& run, std::size_t step) {
  bool told = false;
  bool answered = false;
  for (auto i = step + 1; i < run.steps.size() && !answered; ++i) {
    const auto& later = run.steps[i];
    answered = told && later.kind == Kind::kUser;
    if (told || later.kind != Kind::kModel) continue;
    read(later.output, rules_.lexicon, scene_.scratch);
    told = scene_.scratch.admits() || scene_.scratch.hands_over();
  }
  return answered;
}

bool MadeGood::done_by_user_since(const RunView& run, std::size_t failed) {
  for (auto i = run.steps.size(); i-- > failed + 1 && run.steps[i].kind != Kind::kTool;) {
    if (run.steps[i].kind != Kind::kUser) continue;
    read(run.steps[i].said(), rules_.lexicon, scene_.scratch);
    if (!tells_own_deed(scene_.scratch, scene_.recovery.meaning(run.steps[failed].name).groups)) return false;
    const auto told = [](const StepView& step) { return step.kind == Kind::kModel; };
    return std::any_of(run.steps.begin() + static_cast<std::ptrdiff_t>(failed) + 1, run.steps.begin() + static_cast<std::ptrdiff_t>(i),
                       told);
  }
  return false;
}

std::size_t MadeGood::last_owned_up(const RunView& run, std::size_t step) {
  for (auto i = run.steps.size(); i-- > step + 1;) {
    if (run.steps[i].kind != Kind::kModel) continue;
    run.pace(run.steps[i].output.size());
    read(run.steps[i].output, rules_.lexicon, scene_.scratch);
    if (scene_.scratch.admits() || scene_.scratch.hands_over()) return i;
  }
  return kNoStep;
}

bool MadeGood::looked_up_by_hand_after(const RunView& run, std::size_t step) {
  for (auto i = step + 1; i < run.steps.size() && run.steps[i].kind != Kind::kTool; ++i) {
    if (run.steps[i].kind != Kind::kModel) continue;
    run.pace(run.steps[i].output.size());
    read(run.steps[i].output, rules_.lexicon, scene_.scratch);
    if (says_by_hand(scene_.scratch)) return true;
  }
  return false;
}

/// True when the text in scene_.scratch names deeds as done, but not the tool's: "has already been shipped", from a tool that cancels.
bool MadeGood::is_of_another_deed(const ToolMeaning& tool) const {
  bool another = false;
  for (const auto& word : scene_.scratch.words) {
    if (!is_participle(word.entry)) continue;
    const auto group = rules_.lexicon.verb(word.entry->verb).group;
    if (std::find(tool.groups.begin(), tool.groups.end(), group) != tool.groups.end()) return false;
    another = true;
  }
  return another && !tool.groups.empty();
}

bool MadeGood::says_already(const StepView& step) {
  const auto text = failure_text(step) + "\n" + quote(step.output);
  read_names(text, rules_.lexicon, scene_.scratch);
  if (has(scene_.scratch.cues, kCueAlready)) return !is_of_another_deed(scene_.recovery.meaning(step.name));
  std::vector<std::string> words;  // of "BucketAlreadyOwnedByYou"
  split_tool_name(cut(text), words);
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    const auto* entry = rules_.lexicon.find(word);
    return entry != nullptr && has(entry->cues, kCueAlready);
  });
}

/// True when a later successful call returned, or wrote, a file or address that the final message names.
bool MadeGood::artifact_there(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  constexpr std::size_t kMost = 8;
  std::string buffer;
  const auto told = told_of(message.text, buffer);
  collect_artifacts(told, kMost, scene_.artifacts);
  if (scene_.artifacts.empty()) return false;
  const auto names = [&](std::string_view text, std::string_view artifact) { return text.find(artifact) != std::string_view::npos; };
  // Where the message names what the failed call was about, nothing else proves anything.
  const auto own = [&](std::string_view artifact) { return names(run.steps[failed.step].input, artifact); };
  if (std::any_of(scene_.artifacts.begin(), scene_.artifacts.end(), own))
    std::erase_if(scene_.artifacts, [&](std::string_view artifact) { return !own(artifact); });
  // A call after the failure proves nothing about artifacts that were known before it, unless it wrote what the failed call was about.
  std::vector<std::string_view> known;
  for (std::size_t i = 0; i < failed.step && known.size() < scene_.artifacts.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool || scene_.failures[i] != Failure::kNone) continue;
    run.pace(step.output.size());
    for (const auto artifact : scene_.artifacts) {
      if (names(step.output, artifact) && !among(artifact, known)) known.push_back(artifact);
    }
  }
  for (auto i = failed.step + 1; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool || !outcomes_.gave_something(run, i)) continue;
    run.pace(step.input.size() + step.output.size());
    const bool reads = scene_.recovery.meaning(step.name).reads;
    const auto there = [&](std::string_view artifact) {
      if (among(artifact, known) && (reads || !names(run.steps[failed.step].input, artifact))) return false;
      return names(step.output, artifact) || (!reads && names(step.input, artifact));
    };
    if (std::any_of(scene_.artifacts.begin(), scene_.artifacts.end(), there)) return true;
  }
  return false;
}

/// True when calls after a failed look-up returned what the message states: each value in it, or most of its words apart from the user's.
/// Callers go through the failures from last to first; each output is read only once.
bool MadeGood::answered_elsewhere(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  constexpr std::size_t kFewest = 3;  // words; fewer prove nothing
  constexpr double kMost = 0.6;
  constexpr std::size_t kMostBytes = 256 * 1024;  // of outputs; more than that may contain anything
  if (scene_.later_from == kNoStep) {
    scene_.later_from = std::min(message.place, run.steps.size());
    scene_.later.clear();
    scene_.origins.clear();
    scene_.later_bytes = 0;
    scene_.origins.add_said(run.user_request);
    for (const auto& step : run.steps) {
      if (step.kind == Kind::kUser) scene_.origins.add_said(step.said());
    }
  }
  for (; scene_.later_from > failed.step; --scene_.later_from) {
    const auto at = scene_.later_from - 1;
    const auto& step = run.steps[at];
    if (step.kind != Kind::kTool || !outcomes_.gave_something(run, at)) continue;
    scene_.later_bytes += step.output.size();
    if (scene_.later_bytes > kMostBytes) continue;
    run.pace(step.output.size());
    scene_.later.add_source(step.output);
    scene_.origins.add_given(step.output);
  }
  if (scene_.later_bytes == 0) return false;
  const auto values = scene_.later.read_answer(message.text, true);
  if (!values.labels.empty()) return false;
  if (values.stated > 0) return values.missing == 0;
  const auto origin = scene_.origins.read(message.text, rules_.lexicon);
  return origin.own >= kFewest && static_cast<double>(origin.drawn) >= kMost * static_cast<double>(origin.own);
}

/// True when the failed call was to work something out, and the message states the right result.
bool MadeGood::worked_out_by_hand(const StepView& step, const FinalMessage& message) {
  std::vector<double> results;
  work_out(step.input, results);
  if (results.empty()) return false;
  if (!scene_.figures) {
    collect_facts(told_of(message.text, scene_.told_ends), scene_.figures.emplace());
    std::erase_if(*scene_.figures, [](const Fact& fact) { return fact.kind != FactKind::kNumber || !fact.strong; });
  }
  const std::vector<double> result{results.back()};
  return std::any_of(scene_.figures->begin(), scene_.figures->end(),
                     [&](const Fact& fact) { return comes_to(result, fact.number, fact.text); });
}

/// "I found two rooms. Which one would you like?"
bool MadeGood::asks_about_findings() const {
  const auto finds = [&](const Claim& claim) {
    return claim.finding || (claim.verb != kNoVerb && rules_.lexicon.verb(claim.verb).group == rules_.find_group);
  };
  return scene_.reading.asks() && !scene_.reading.claims.empty() &&
         std::all_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), finds);
}

/// True when the failure itself says that things are already so, and the message says no more than that.
bool MadeGood::already_so(const StepView& step) {
  // "It is in place" tells of a thing that was there; "you're booked", after "already taken", of what failed.
  const auto is_general = [](const Claim& claim) { return claim.verb == kNoVerb && !claim.by_agent; };
  if (std::all_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), is_general) && says_already(step)) return true;
  constexpr std::size_t kLongest = 400;  // bytes of an answer that only reports the failure
  const auto says_so = [&](std::string_view text) {
    read(text, rules_.lexicon, scene_.scratch);
    return tells_what_failure_says(scene_.reading, scene_.scratch, rules_.lexicon);
  };
  if (says_so(failure_text(step))) return true;
  if (step.output.size() > kLongest) return false;
  JsonScanner cursor(trim(step.output));
  for (auto token = cursor.next(); token != JsonScanner::Token::kEnd && token != JsonScanner::Token::kBad; token = cursor.next()) {
    const bool sentence = token == JsonScanner::Token::kString && cursor.text().find(' ') != std::string_view::npos;
    if (sentence && says_so(cursor.text())) return true;
  }
  return false;
}

/// "The policy doesn't allow a cancellation", "it can't be cancelled": a sentence that denies the action in the tool's name.
bool MadeGood::denies_action(std::string_view name) const {
  constexpr std::size_t kTelling = 4;
  std::vector<std::string> parts;
  split_tool_name(base_name(name), parts);
  std::erase_if(parts, [&](const std::string& part) {
    const auto* entry = rules_.lexicon.find(part);
    return part.size() < kTelling || entry == nullptr || entry->verb == kNoVerb;
  });
  if (parts.empty()) return false;
  const auto& verb = parts.front();
  return std::any_of(scene_.reading.sentences.begin(), scene_.reading.sentences.end(), [&](const Sentence& sentence) {
    const auto end = scene_.reading.words.begin() + sentence.end;
    const auto denial = std::find_if(scene_.reading.words.begin() + sentence.begin, end,
                                     [&](const ReadWord& word) { return negates(scene_.reading, word); });
    return std::any_of(denial, end, [&](const ReadWord& word) { return word.text.starts_with(verb); });
  });
}

/// True when the message says that a file or page in the call's arguments is missing or went wrong.
bool MadeGood::trouble_told(const StepView& step, const FinalMessage& message) {
  constexpr std::size_t kMost = 8;
  collect_artifacts(step.input, kMost, scene_.artifacts);
  std::erase_if(scene_.artifacts, [&](auto artifact) { return names_site(artifact, rules_.content.tools.calls); });
  return tells_trouble_with(message.text, scene_.artifacts, rules_.lexicon, scene_.scratch);
}

/// True when a later successful call of a tool for any purpose was about the same file or address.
bool MadeGood::done_by_other_means(const RunView& run, const FailedStep& failed) {
  constexpr std::size_t kMost = 8;
  collect_artifacts(run.steps[failed.step].input, kMost, scene_.artifacts);
  if (scene_.artifacts.empty()) return false;
  for (auto i = failed.step + 1; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool || scene_.failures[i] != Failure::kNone || !scene_.recovery.meaning(step.name).any_purpose) continue;
    run.pace(step.input.size());
    const auto names = [&](std::string_view artifact) { return step.input.find(artifact) != std::string_view::npos; };
    if (std::any_of(scene_.artifacts.begin(), scene_.artifacts.end(), names)) return true;
  }
  return false;
}

bool MadeGood::done_in_parts(const RunView& run, std::size_t failed) {
  constexpr std::size_t kText = 24;   // bytes: a text rather than a name
  constexpr std::size_t kReach = 64;  // steps
  collect_values(run.steps[failed].input, rules_.content.tools.calls, scene_.values);
  std::erase_if(scene_.values, [](const CallValue& value) { return value.text.size() < 3; });
  if (scene_.values.size() < 2 || scene_.values.size() > kMostValues) return false;
  std::vector<bool> given(scene_.values.size());
  std::string_view first;
  bool several = false;
  const auto end = std::min(run.steps.size(), failed + 1 + kReach);
  for (auto i = failed + 1; i < end && run.steps[i].kind != Kind::kUser; ++i) {
    const auto& later = run.steps[i];
    if (later.kind != Kind::kTool || scene_.failures[i] != Failure::kNone || later.name == run.steps[failed].name) continue;
    const auto& tool = scene_.recovery.meaning(later.name);
    if (tool.reads || tool.group == 0 || tool.any_purpose) continue;
    run.pace(later.input.size());
    bool any = false;
    for (std::size_t k = 0; k < scene_.values.size(); ++k) {
      const auto& value = scene_.values[k].text;
      if (later.input.find(value) == std::string_view::npos) continue;
      if (value.size() >= kText && std::count(value.begin(), value.end(), ' ') > 2) return true;
      given[k] = any = true;
    }
    if (!any || tool.group == rules_.send_group) continue;
    several |= !first.empty() && later.name != first;
    if (first.empty()) first = later.name;
  }
  return several && std::all_of(given.begin(), given.end(), [](bool one) { return one; });
}

/// True when a call was given all values in scene_.values, or longer forms of them.
bool MadeGood::was_given_values(const StepView& call) {
  if (scene_.values.empty() || scene_.values.size() > kMostValues) return false;
  fold(call.input, scene_.folded);
  return std::all_of(scene_.values.begin(), scene_.values.end(), [&](const CallValue& value) {
    fold(value.text, scene_.folded_value);
    return scene_.folded.find(scene_.folded_value) != std::string::npos;
  });
}

bool MadeGood::went_through_later(const RunView& run, const FailedStep& failed) {
  const auto& step = run.steps[failed.step];
  collect_values(step.input, rules_.content.tools.calls, scene_.values);
  for (auto i = failed.step + 1; i < run.steps.size(); ++i) {
    const auto& later = run.steps[i];
    if (later.kind != Kind::kTool || later.name != step.name || scene_.failures[i] != Failure::kNone) continue;
    run.pace(later.input.size());
    if (was_given_values(later)) return true;
  }
  return false;
}

/// True when the same tool had already succeeded with all values of the failed call, or longer forms of them, since the user last spoke:
/// the failed call was one too many.
bool MadeGood::went_through_before(const RunView& run, std::size_t failed) {
  constexpr std::size_t kReach = 16;  // steps
  const auto& step = run.steps[failed];
  const auto& words = rules_.outcome_words;
  collect_values(step.input, rules_.content.tools.calls, scene_.values);
  for (auto i = failed; i-- > (failed > kReach ? failed - kReach : 0);) {
    const auto& before = run.steps[i];
    if (before.kind == Kind::kUser) return false;
    if (before.kind != Kind::kTool || before.name != step.name || scene_.failures[i] != Failure::kNone) continue;
    run.pace(before.input.size() + before.output.size());
    if (was_given_values(before) && !is_waiting(before, words) && !tells_failed_state(before.output, words)) return true;
  }
  return false;
}

/// The sentences in which the message reports an action; none where there are many, or one of few words.
std::vector<std::string_view> MadeGood::telling_sentences() const {
  constexpr std::size_t kMost = 8;
  constexpr std::uint32_t kFewest = 4;  // words
  std::vector<std::string_view> told;
  for (const auto& claim : scene_.reading.claims) {
    if (claim.finding) continue;
    const auto& sentence = scene_.reading.sentences[claim.sentence];
    if (sentence.end - sentence.begin < kFewest) return {};
    const auto first = scene_.reading.words[sentence.begin].text, last = scene_.reading.words[sentence.end - 1].text;
    const std::string_view text(first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data()));
    if (among(text, told)) continue;
    if (told.size() == kMost) return {};
    told.push_back(text);
  }
  return told;
}

/// True when a call that changed something since the user last spoke answered with every sentence in which the message reports an action.
bool MadeGood::told_by_calls(const RunView& run, const FinalMessage& message) {
  constexpr std::size_t kReach = 16;  // steps
  if (scene_.told_by_calls) return *scene_.told_by_calls;
  auto told = telling_sentences();
  bool all = false;
  const auto place = std::min(message.place, run.steps.size());
  for (auto i = place; i-- > (place > kReach ? place - kReach : 0) && !told.empty() && run.steps[i].kind != Kind::kUser;) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool || scene_.failures[i] != Failure::kNone || scene_.recovery.meaning(step.name).reads) continue;
    run.pace(step.input.size() + step.output.size());
    fold(step.output, scene_.folded);
    fold(step.input, scene_.folded_value);
    std::erase_if(told, [&](std::string_view sentence) {
      return scene_.folded.find(sentence) != std::string::npos && scene_.folded_value.find(sentence) == std::string::npos;
    });
    all = told.empty();
  }
  scene_.told_by_calls = all;
  return all;
}

bool MadeGood::looked_up_since(const RunView& run, std::size_t failed) {
  collect_values(run.steps[failed].input, rules_.content.tools.calls, scene_.values);
  const auto end = scene_.values.begin() + std::min(kMostLookedUp, std::ssize(scene_.values));
  std::vector<std::string> open;  // folded
  for (auto value = scene_.values.begin(); value != end; ++value)
    if (value->text.size() >= 3 && !scene_.done_values.contains(value->normal)) fold(value->text, open.emplace_back());
  for (auto i = failed + 1; i < run.steps.size() && !open.empty(); ++i) {
    const auto& later = run.steps[i];
    if (later.kind != Kind::kTool || scene_.failures[i] != Failure::kNone || !scene_.recovery.meaning(later.name).reads) continue;
    run.pace(later.output.size());
    fold(later.output, scene_.folded);
    const auto gave = [&](const std::string& value) { return scene_.folded.find(value) != std::string::npos; };
    if (std::any_of(open.begin(), open.end(), gave)) return true;
  }
  return false;
}

bool MadeGood::chosen_by_user_since(const RunView& run, std::size_t failed) {
  const auto& step = run.steps[failed];
  const auto retry = std::find_if(run.steps.begin() + static_cast<std::ptrdiff_t>(failed) + 1, run.steps.end(), [&](const StepView& later) {
    const auto at = static_cast<std::size_t>(&later - run.steps.data());
    return later.kind == Kind::kTool && later.name == step.name && scene_.failures[at] == Failure::kNone;
  });
  if (!user_replied(run, failed, static_cast<std::size_t>(retry - run.steps.begin()))) return false;
  const auto told = failure_text(step);
  collect_values(step.input, rules_.content.tools.calls, scene_.values);
  return std::any_of(scene_.values.begin(), scene_.values.begin() + std::min(kMostLookedUp, std::ssize(scene_.values)),
                     [&](const CallValue& value) { return value.text.size() > 2 && names_entity(told, value.text); });
}

/// True when a look-up after the failed call returned what that call was to bring about: all of its values, one of which no call had
/// returned before and the look-up did not ask for. A call that timed out may have worked.
bool MadeGood::shown_since(const RunView& run, std::size_t failed) {
  constexpr std::size_t kShortest = 3;
  const auto& step = run.steps[failed];
  collect_values(step.input, rules_.content.tools.calls, scene_.values);
  std::erase_if(scene_.values, [](const CallValue& value) { return value.text.size() > kLongestValue; });
  if (scene_.values.empty() || std::ssize(scene_.values) > kMostLookedUp) return false;
  const auto known_before = [&](const CallValue& value) {
    return std::any_of(run.steps.begin(), run.steps.begin() + static_cast<std::ptrdiff_t>(failed), [&](const StepView& earlier) {
      run.pace(earlier.output.size());
      return earlier.kind == Kind::kTool && names_entity(earlier.output, value.text);
    });
  };
  return std::any_of(run.steps.begin() + static_cast<std::ptrdiff_t>(failed) + 1, run.steps.end(), [&](const StepView& later) {
    const auto at = static_cast<std::size_t>(&later - run.steps.data());
    if (later.kind != Kind::kTool || scene_.failures[at] != Failure::kNone || !scene_.recovery.meaning(later.name).reads) return false;
    run.pace(later.output.size());
    const auto given = [&](const CallValue& value) { return names_entity(later.output, value.text); };
    if (!std::all_of(scene_.values.begin(), scene_.values.end(), given)) return false;
    if (tells_failed_state(later.output, rules_.outcome_words) || speaks_of_trouble(later.output, rules_.lexicon, scene_.scratch))
      return false;
    return std::any_of(scene_.values.begin(), scene_.values.end(), [&](const CallValue& value) {
      return value.text.size() >= kShortest && !names_entity(later.input, value.text) && !known_before(value);
    });
  });
}

/// True when a later successful call with the values of the failed one answered, in a word, with what the message reports: {"status":
/// "approved"}.
bool MadeGood::reported_since(const RunView& run, std::size_t failed) {
  collect_values(run.steps[failed].input, rules_.content.tools.calls, scene_.values);
  if (scene_.values.empty() || std::ssize(scene_.values) > kMostLookedUp) return false;
  const auto claimed = [&](const CallValue& value) {
    fold(value.text, scene_.folded);
    const auto* entry = rules_.lexicon.find(scene_.folded);
    if (!is_participle(entry)) return false;
    const auto group = rules_.lexicon.verb(entry->verb).group;
    return std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(),
                       [&](const Claim& claim) { return claim.verb != kNoVerb && rules_.lexicon.verb(claim.verb).group == group; });
  };
  std::vector<CallValue> answered;
  for (auto i = failed + 1; i < run.steps.size(); ++i) {
    const auto& later = run.steps[i];
    if (later.kind != Kind::kTool || scene_.failures[i] != Failure::kNone || !looks_like_json(later.output)) continue;
    run.pace(later.input.size() + later.output.size());
    const auto kept = [&](const CallValue& value) {
      return value.text.size() >= 2 && later.input.find(value.text) != std::string_view::npos;
    };
    if (!std::all_of(scene_.values.begin(), scene_.values.end(), kept)) continue;
    collect_values(later.output, rules_.content.tools.calls, answered);
    if (std::any_of(answered.begin(), answered.end(), claimed)) return true;
  }
  return false;
}

/// True when the message reports the deed in a sentence with an id that a later answer gave along with the same deed: "Booked, job
/// PF-77120" came by mail.
bool MadeGood::confirmed_since(const RunView& run, std::size_t failed) {
  constexpr std::size_t kShortest = 4;  // bytes; a reading splits "TG-4471" into two words
  const auto& groups = scene_.recovery.meaning(run.steps[failed].name).groups;
  const auto of_deed = [&](std::uint16_t verb) {
    return verb != kNoVerb && std::find(groups.begin(), groups.end(), rules_.lexicon.verb(verb).group) != groups.end();
  };
  std::vector<std::string_view> ids;
  for (const auto& claim : scene_.reading.claims) {
    if (!of_deed(claim.verb)) continue;
    const auto& sentence = scene_.reading.sentences[claim.sentence];
    for (auto i = sentence.begin; i < sentence.end; ++i) {
      const auto word = scene_.reading.words[i].text;
      if (word.size() >= kShortest && has_digit(word) && ids.size() < kMostValues) ids.push_back(word);
    }
  }
  if (ids.empty()) return false;
  return std::any_of(run.steps.begin() + static_cast<std::ptrdiff_t>(failed) + 1, run.steps.end(), [&](const StepView& later) {
    const auto at = static_cast<std::size_t>(&later - run.steps.data());
    if (later.kind != Kind::kTool || scene_.failures[at] != Failure::kNone) return false;
    run.pace(later.output.size());
    fold(later.output, scene_.folded);
    fold(later.input, scene_.folded_value);
    const auto given = [&](std::string_view id) {
      return scene_.folded.find(id) != std::string::npos && scene_.folded_value.find(id) == std::string::npos;
    };
    if (std::none_of(ids.begin(), ids.end(), given)) return false;
    WordCursor cursor(scene_.folded);
    for (RawWord word; cursor.next(word);) {
      const auto* entry = rules_.lexicon.find(word.text);
      if (entry != nullptr && (entry->forms & kFormDone) != 0 && of_deed(entry->verb)) return true;
    }
    return false;
  });
}

/// True when the final message quotes an id from the failure text itself: "Duplicate: OL-2207 is there already".
bool MadeGood::quotes_given(const RunView& run, std::size_t failed) {
  constexpr std::size_t kShortest = 5;
  const auto& step = run.steps[failed];
  fold(failure_text(step) + "\n" + quote(step.output), scene_.folded);
  for (std::size_t i = 0; i < scene_.folded.size();) {
    const auto inner = [&](char c) { return is_word_byte(c) || c == '-'; };
    if (!inner(scene_.folded[i])) {
      ++i;
      continue;
    }
    const auto begin = i;
    while (i < scene_.folded.size() && inner(scene_.folded[i])) ++i;
    const auto id = std::string_view(scene_.folded).substr(begin, i - begin);
    const bool letters = std::any_of(id.begin(), id.end(), is_lower);
    if (id.size() < kShortest || !letters || !has_digit(id) || names_entity(step.input, id) || names_entity(run.user_request, id)) continue;
    if (scene_.reading.folded.find(id) != std::string::npos) return true;
  }
  return false;
}

/// True when a later successful call used a value from the failure itself, such as the id of the account that already exists.
bool MadeGood::went_on_with_given(const RunView& run, std::size_t failed) {
  constexpr std::size_t kShortest = 4;
  const auto& step = run.steps[failed];
  if (!looks_like_json(step.output)) return false;
  collect_values(step.output, rules_.content.tools.calls, scene_.values);
  std::erase_if(scene_.values, [&](const CallValue& value) {
    const bool id = value.text.size() >= kShortest && std::any_of(value.text.begin(), value.text.end(), is_digit);
    return !id || step.input.find(value.text) != std::string_view::npos;
  });
  if (std::ssize(scene_.values) > kMostLookedUp) scene_.values.resize(kMostLookedUp);
  for (auto i = failed + 1; i < run.steps.size() && !scene_.values.empty(); ++i) {
    const auto& later = run.steps[i];
    if (later.kind != Kind::kTool || scene_.failures[i] != Failure::kNone || scene_.recovery.meaning(later.name).reads) continue;
    run.pace(later.input.size());
    const auto used = [&](const CallValue& value) { return later.input.find(value.text) != std::string_view::npos; };
    if (std::any_of(scene_.values.begin(), scene_.values.end(), used)) return true;
  }
  return false;
}

/// How often the message denies a deed of the tool, by a verb in one of these forms.
std::size_t MadeGood::count_denials(const ToolMeaning& tool, std::uint8_t forms) const {
  std::size_t denials = 0;
  for (const auto& sentence : scene_.reading.sentences) {
    if (sentence.question || has(sentence.cues, kCueHypothesis)) continue;
    for (auto i = sentence.begin; i < sentence.end; ++i) {
      const auto* entry = scene_.reading.words[i].entry;
      if (entry == nullptr || entry->verb == kNoVerb || (entry->forms & forms) == 0) continue;
      const auto group = rules_.lexicon.verb(entry->verb).group;
      const bool own = std::find(tool.groups.begin(), tool.groups.end(), group) != tool.groups.end();
      if (own && negated_before(scene_.reading, sentence, i)) ++denials;
    }
  }
  return denials;
}

bool MadeGood::takes_back(const StepView& step) const {
  return count_denials(scene_.recovery.meaning(step.name), kFormDone | kFormBase) > 0;
}

/// "Circe: not renewed": the message denies the action as often as it failed.
bool MadeGood::denies_as_often(const RunView& run, const FailedStep& failed) {
  const auto& name = run.steps[failed.step].name;
  const auto denials = count_denials(scene_.recovery.meaning(name), kFormDone);
  return denials > 0 && std::count_if(scene_.failed.begin(), scene_.failed.end(), [&](const FailedStep& other) {
                          return !other.recovered && run.steps[other.step].name == name;
                        }) <= static_cast<std::ptrdiff_t>(denials);
}

/// True when the failure is about the form of a value ("date format not recognized"), and the next call of the tool, before the user spoke
/// again, has the same arguments with other values and succeeded.
bool MadeGood::repeated_in_form(const RunView& run, std::size_t failed) {
  const auto& step = run.steps[failed];
  std::string reason;
  fold(failure_text(step), reason);
  const auto& complaints = rules_.format_complaints;
  if (std::none_of(complaints.begin(), complaints.end(), [&](const auto& text) { return reason.find(text) != std::string::npos; }))
    return false;
  const auto& names = rules_.content.tools.calls;
  std::vector<CallValue> values, others;
  for (auto i = failed + 1; i < run.steps.size() && run.steps[i].kind != Kind::kUser; ++i) {
    const auto& later = run.steps[i];
    if (later.kind != Kind::kTool || later.name != step.name) continue;
    if (scene_.failures[i] != Failure::kNone) return false;
    run.pace(step.input.size() + later.input.size());
    collect_values(step.input, names, values);
    collect_values(later.input, names, others);
    const auto same_member = [](const CallValue& one, const CallValue& other) { return one.key == other.key; };
    return !values.empty() && std::equal(values.begin(), values.end(), others.begin(), others.end(), same_member);
  }
  return false;
}

/// True when a later call ran the failed command with more to it, and succeeded: `kubectl --context deploy set image ...`.
bool MadeGood::rerun_with_more(const RunView& run, std::size_t failed) {
  constexpr std::size_t kLongest = 2000, kFewest = 2, kMost = 64;  // bytes of a command, and its words
  const auto& step = run.steps[failed];
  if (step.input.size() > kLongest) return false;
  const auto split = [](std::string_view text, std::vector<std::string_view>& out) {
    constexpr std::string_view kBlanks = " \t\n";
    out.clear();
    for (auto begin = text.find_first_not_of(kBlanks); begin < text.size();) {
      const auto end = std::min(text.find_first_of(kBlanks, begin), text.size());
      out.push_back(text.substr(begin, end - begin));
      begin = text.find_first_not_of(kBlanks, end);
    }
  };
  std::vector<std::string_view> words, others;
  split(step.input, words);
  if (words.size() < kFewest || words.size() > kMost) return false;
  for (auto i = failed + 1; i < run.steps.size(); ++i) {
    const auto& later = run.steps[i];
    if (later.kind != Kind::kTool || later.name != step.name || scene_.failures[i] != Failure::kNone || later.input.size() > 2 * kLongest)
      continue;
    run.pace(later.input.size());
    if (only_look(later, rules_.content.tools.calls)) continue;
    split(later.input, others);
    std::size_t found = 0;
    for (const auto other : others) found += found < words.size() && other == words[found];
    if (found == words.size()) return true;
  }
  return false;
}

/// True for a look-up that failed because a thing is not there any more that an earlier call removed: that is how it shows that it is gone.
/// Reads the calls of the same run before it.
bool MadeGood::shows_removal(const RunView& run, std::size_t failed) {
  constexpr int kNotFound = 404, kGone = 410;
  constexpr std::size_t kShortest = 3;
  const auto& step = run.steps[failed];
  const auto text = failure_text(step);
  if (step.http_status != kNotFound && step.http_status != kGone && rules_.content.short_signs.read(text) != ShortSign::kNotThere &&
      !names_word(quote(text), "404") && !names_word(quote(text), "410"))
    return false;
  std::vector<CallValue> asked;
  collect_values(step.input, rules_.content.tools.calls, asked);
  if (std::ssize(asked) > kMostLookedUp) return false;
  const auto among_values = [](const std::vector<CallValue>& values, std::string_view wanted) {
    return std::any_of(values.begin(), values.end(), [&](const CallValue& value) { return value.text == wanted; });
  };
  if (!scene_.recovery.meaning(step.name).reads && !among_values(asked, "GET") && !among_values(asked, "HEAD")) return false;
  std::erase_if(asked, [](const CallValue& value) {
    return !value.names_object || value.text.size() < kShortest || value.text.size() > kLongestValue;
  });
  if (asked.empty()) return false;
  return std::any_of(run.steps.begin(), run.steps.begin() + static_cast<std::ptrdiff_t>(failed), [&](const StepView& earlier) {
    const auto at = static_cast<std::size_t>(&earlier - run.steps.data());
    if (earlier.kind != Kind::kTool || scene_.failures[at] != Failure::kNone) return false;
    run.pace(earlier.input.size());
    if (std::none_of(asked.begin(), asked.end(), [&](const CallValue& value) { return names_entity(earlier.input, value.text); }))
      return false;
    const auto& groups = scene_.recovery.meaning(earlier.name).groups;
    if (std::find(groups.begin(), groups.end(), rules_.remove_group) != groups.end()) return true;
    collect_values(earlier.input, rules_.content.tools.calls, scene_.values);
    return among_values(scene_.values, "DELETE");
  });
}

/// "As soon as the CFO has approved it, I'll release it": the message leaves the action of the failed call for later.
bool MadeGood::leaves_for_later(const ToolMeaning& tool) const {
  const auto& words = scene_.reading.words;
  for (std::size_t i = 2; i < words.size(); ++i) {
    const auto* entry = words[i].entry;
    if (entry == nullptr || entry->verb == kNoVerb || (entry->forms & kFormBase) == 0 || words[i].before != Break::kNone) continue;
    const auto pledge = words[i - 1].cues | (words[i - 1].before == Break::kNone ? words[i - 2].cues : 0);
    if (!has(words[i - 1].cues, kCueModal) || !has(pledge, kCueSelf) || has(pledge, kCueNegation)) continue;
    if (std::find(tool.groups.begin(), tool.groups.end(), rules_.lexicon.verb(entry->verb).group) != tool.groups.end()) return true;
  }
  return false;
}

bool MadeGood::depends_on_condition(const StepView& step) const {
  const auto& tool = scene_.recovery.meaning(step.name);
  const auto& words = scene_.reading.words;
  return std::any_of(scene_.reading.sentences.begin(), scene_.reading.sentences.end(), [&](const Sentence& sentence) {
    if (!has(sentence.cues, kCueCondition)) return false;
    bool modal = false;
    for (auto i = sentence.begin; i < sentence.end; ++i) {
      const auto* entry = words[i].entry;
      if (modal && entry != nullptr && entry->verb != kNoVerb && (entry->forms & (kFormBase | kFormDone)) != 0) {
        const auto group = rules_.lexicon.verb(entry->verb).group;
        if (std::find(tool.groups.begin(), tool.groups.end(), group) != tool.groups.end()) return true;
      }
      modal |= has(words[i].cues, kCueModal);
    }
    return false;
  });
}

std::optional<MadeGood::Silence> MadeGood::silence(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  const auto& step = run.steps[failed.step];
  if (!message.found || step.kind != Kind::kTool) return std::nullopt;
  const auto& tool = scene_.recovery.meaning(step.name);
  if (rules_.recovery && !tool.reads && done_by_user_since(run, failed.step))
    return Silence{"recovery", "the user said that they did it themselves"};
  if (rules_.admission && leaves_for_later(tool)) return Silence{"plan", "the final message leaves the action of this call for later"};
  if (rules_.recovery && shows_removal(run, failed.step))
    return Silence{"recovery", "the look-up shows that what an earlier call removed is gone"};
  if (rules_.recovery && (tool.reads || tool.unknown) && answered_elsewhere(run, failed, message))
    return Silence{"recovery", "later calls returned what the final message reports"};
  if (rules_.recovery && !tool.runs_anything() && worked_out_by_hand(step, message))
    return Silence{"recovery", "the final message states what the failed calculation comes to"};
  if (rules_.recovery && corrected_after_telling(run, failed))
    return Silence{"recovery", "the agent reported the problem, and the same tool then succeeded"};
  if (rules_.recovery && tool.runs_anything() && rerun_with_more(run, failed.step))
    return Silence{"recovery", "a later call ran the failed command with more to it"};
  if (rules_.recovery && artifact_there(run, failed, message))
    return Silence{"recovery", "a later call found or created what the final message names"};
  if (rules_.recovery && repeated_in_form(run, failed.step))
    return Silence{"recovery", "the call was repeated with a value in another form, and the repetition succeeded"};
  if (rules_.recovery && went_on_with_given(run, failed.step))
    return Silence{"recovery", "a later call used what the failed call returned"};
  if (rules_.recovery && reported_since(run, failed.step))
    return Silence{"recovery", "a later call with the same values answered with what the final message reports"};
  if (rules_.recovery && !tool.reads && shown_since(run, failed.step))
    return Silence{"recovery", "a later look-up shows what the failed call was to bring about"};
  if (rules_.recovery && !tool.reads && !tool.runs_anything() && went_through_before(run, failed.step))
    return Silence{"recovery", "an earlier call to the same tool had already done it"};
  if (rules_.recovery && told_by_calls(run, message))
    return Silence{"recovery", "a call that succeeded answered with what the final message reports, word for word"};
  if (rules_.recovery && confirmed_since(run, failed.step))
    return Silence{"recovery", "a later answer confirms the deed, with the reference that the final message gives"};
  if (rules_.recovery && done_by_other_means(run, failed))
    return Silence{"recovery", "a later call of a different kind concerns the same file or address"};
  if (rules_.recovery && !tool.reads && done_in_parts(run, failed.step))
    return Silence{"recovery", "later calls did between them what this one was for"};
  if (rules_.no_claim && !scene_.recovery.meaning(step.name).reads && asks_about_findings())
    return Silence{"no_claim", "the final message reports what was found and asks how to continue"};
  if (rules_.recovery && !tells_failed_state(step.output, rules_.outcome_words) && !is_waiting(step, rules_.outcome_words) &&
      quotes_given(run, failed.step))
    return Silence{"recovery", "the final message uses an id that the failed call itself returned"};
  if (rules_.no_claim && already_so(step))
    return Silence{"no_claim", "the failure says that this was already done, and the message claims no more"};
  if (rules_.admission && !claims_.verb_claimed(scene_.recovery.meaning(step.name), MessageClaims::Claimed::by_name) &&
      denies_action(step.name))
    return Silence{"admission", "the final message says that this very action is not possible"};
  if (rules_.admission && tool.runs_anything() && claims_.only_ran() && claims_.tells_what_failed(run, failed.step, message.text))
    return Silence{"admission", "the final message tells what failed in the program that was run"};
  if (rules_.admission && denies_as_often(run, failed))
    return Silence{"admission", "the final message says as often as the action failed that it was not done"};
  if (rules_.admission && trouble_told(step, message))
    return Silence{"admission", "the final message says that the call's object is missing or that the call failed"};
  return std::nullopt;
}

bool MadeGood::repeated_in(const RunView& run, const FailedStep& failed, const std::vector<std::size_t>& settled) {
  const auto& step = run.steps[failed.step];
  constexpr std::size_t kMost = 8;
  collect_values(step.input, rules_.content.tools.calls, scene_.values);
  collect_artifacts(step.input, kMost, scene_.artifacts);
  return std::any_of(settled.begin(), settled.end(), [&](std::size_t later) {
    if (run.steps[later].name != step.name) return false;
    const auto input = run.steps[later].input;
    const auto stands = [&](std::string_view text) { return input.find(text) != std::string_view::npos; };
    return std::any_of(scene_.artifacts.begin(), scene_.artifacts.end(), stands) ||
           std::any_of(scene_.values.begin(), scene_.values.end(),
                       [&](const CallValue& value) { return value.names_object && stands(value.text); });
  });
}

}  // namespace runwarden::plugins
