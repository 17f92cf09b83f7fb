#include "false_success/passed_over.h"

#include <algorithm>
#include <vector>

#include "common/sql.h"
#include "common/words.h"
#include "evidence/artifacts.h"
#include "evidence/call_entities.h"
#include "evidence/commands.h"
#include "evidence/denied_deed.h"
#include "evidence/program_end.h"
#include "evidence/trouble.h"
#include "evidence/undone.h"
#include "false_success/call_texts.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

/// True for an output that reports something as done before what it denies: "The account was moved; nothing else was changed."
bool reports_before_denying(const Reading& output) {
  const auto denied = std::find_if(output.words.begin(), output.words.end(), [&](const ReadWord& word) { return negates(output, word); });
  const auto at = static_cast<std::uint32_t>(denied - output.words.begin());
  return std::any_of(output.claims.begin(), output.claims.end(), [&](const Claim& claim) { return !claim.finding && claim.word < at; });
}

/// True for a message that denies nothing, or only after a sentence that claims something: "1,204 rows are gone. So it can't happen
/// again."
bool claims_before_denying(const Reading& reading) {
  const auto denied = std::find_if(reading.sentences.begin(), reading.sentences.end(),
                                   [&](const Sentence& sentence) { return negates_anything(reading, sentence); });
  const auto at = static_cast<std::uint32_t>(denied - reading.sentences.begin());
  return denied == reading.sentences.end() || std::any_of(reading.claims.begin(), reading.claims.end(),
                                                          [&](const Claim& claim) { return !claim.finding && claim.sentence < at; });
}

}  // namespace

/// True when the final message states something about a value that only the failed call has among its arguments.
bool PassedOver::tells_of_undone(const StepView& step) {
  collect_values(step.input, rules_.content.tools.calls, scene_.values);
  std::size_t tried = 0;
  return std::any_of(scene_.values.begin(), scene_.values.end(), [&](const CallValue& value) {
    if (scene_.done_values.contains(value.normal) || value.text.size() < 3 || value.text.size() > kLongestValue || tried >= kMostValues)
      return false;
    if (is_placeholder(value) || claims_.is_small_word(value.text)) return false;
    ++tried;
    return claims_.all_words_in(value.text, scene_.told);
  });
}

/// True when the claims name things of other calls of the tool, and the message speaks of this one's only beside them: "T-1 and T-3 are
/// cancelled. T-2 stays as it is".
bool PassedOver::told_apart(const RunView& run, const StepView& step) {
  constexpr std::size_t kMostCalls = 16;
  const auto named = [&](const StepView& call, bool in_claims) {
    collect_values(call.input, rules_.content.tools.calls, scene_.values);
    std::size_t tried = 0;
    return std::any_of(scene_.values.begin(), scene_.values.end(), [&](const CallValue& value) {
      if (std::none_of(value.text.begin(), value.text.end(), is_digit) || value.text.size() > kLongestValue) return false;
      if ((&call == &step && scene_.done_values.contains(value.normal)) || ++tried > kMostValues) return false;
      return claims_.mentioned(value.text, in_claims);
    });
  };
  if (!named(step, false) || named(step, true)) return false;
  std::size_t calls = 0;
  return std::any_of(run.steps.begin(), run.steps.end(), [&](const StepView& other) {
    const auto at = static_cast<std::size_t>(&other - run.steps.data());
    const bool done = other.kind == Kind::kTool && other.name == step.name && scene_.failures[at] == Failure::kNone;
    return done && calls++ < kMostCalls && named(other, true);
  });
}

/// True when the arguments of another call repeat one of the first values.
bool PassedOver::names_any_of(std::string_view input, const std::vector<CallValue>& values) {
  const auto first = values.begin() + std::min(std::ssize(values), static_cast<std::ptrdiff_t>(kMostValues));
  return std::any_of(values.begin(), first, [&](const CallValue& value) {
    return value.text.size() >= 3 && !is_placeholder(value) && input.find(value.text) != std::string_view::npos;
  });
}

/// True when the message speaks of all the things together, and the failed call's tool succeeded for others of them: "both are
/// enrolled".
bool PassedOver::tells_of_all(const RunView& run, const StepView& step) {
  const auto other = [&](const StepView& done) {
    const auto at = static_cast<std::size_t>(&done - run.steps.data());
    return done.kind == Kind::kTool && done.name == step.name && scene_.failures[at] == Failure::kNone;
  };
  if (std::none_of(run.steps.begin(), run.steps.end(), other) || claims_.names_undone(step)) return false;
  if (std::any_of(rules_.all_words.begin(), rules_.all_words.end(),
                  [&](const auto& word) { return scene_.told.contains(hash_bytes(word)); }))
    return true;
  const auto at = static_cast<std::size_t>(&step - run.steps.data());
  return std::any_of(scene_.reading.words.begin(), scene_.reading.words.end(), [&](const ReadWord& word) {
    return scene_.told.contains(hash_bytes(word.text)) && claims_.counts_all(run, at, word.text);
  });
}

/// True when no call but those that failed may have changed anything, this one among them, and the run counts as a success: nothing else
/// can have done what the message tells.
bool PassedOver::alone_to_change(const RunView& run, const StepView& step) {
  if (run.success != true || scene_.last_done != kNoStep) return false;
  return changes_by_command(step) || complains(step.input, step.output, rules_.content.tools.calls);
}

bool PassedOver::closes_behind(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  constexpr std::uint64_t kOpen = kCueHypothesis | kCueOffer | kCuePlan;
  const auto& step = run.steps[failed.step];
  const bool anything = scene_.recovery.meaning(step.name).runs_anything();
  const bool others = !anything && !claims_.says_all_done();
  // The message may rest on something else that was said since.
  for (auto i = failed.step + 1; anything && i < std::min(message.place, run.steps.size()); ++i) {
    if (run.steps[i].kind == Kind::kModel && !trim(run.steps[i].output).empty() && trim(run.steps[i].output) != trim(message.text))
      return false;
  }
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    if (run.steps[i].kind != Kind::kTool) continue;
    if (i >= message.place) break;
    if (i > failed.step || (others && run.steps[i].name == step.name && scene_.failures[i] == Failure::kNone)) return false;
  }
  if (has(scene_.reading.cues, kOpen) || claims_.tells_own_trouble(run, message.place) || !scene_.reading.plainly_understood(message.text))
    return false;
  if (negates_anything(scene_.reading) || claims_.gives_its_reason(step)) return false;
  claims_.index_told();
  if (anything) {
    if (claims_.tells_what_failed(run, failed.step, message.text)) return false;
    return claims_.tells_word_of(step.input) || claims_.tells_deed_of(step.input) ||
           (alone_to_change(run, step) && claims_.speaks_of(run, step));
  }
  return claims_.speaks_of(run, step);
}

bool PassedOver::closes_behind_deed(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  const auto& step = run.steps[failed.step];
  if (!closes_behind(run, failed, message)) return false;
  return scene_.recovery.meaning(step.name).runs_anything() || claims_.claims_deed_of(step) || is_missed(run, step, message);
}

/// True for a call that was to change something: not a look-up, nor a program that only looks.
bool PassedOver::may_be_deed(const StepView& step) {
  const auto& tool = scene_.recovery.meaning(step.name);
  if (tool.reads || tool.meaningless || tool.may_look) return false;
  // Of a tool whose name says nothing, an answer with members, rather than a text, is that of a deed.
  return tool.runs_anything() ? changes_by_command(step) : tool.group != 0 || looks_like_json(step.output);
}

/// True when a program changes something by its command, or by a statement of SQL.
bool PassedOver::changes_by_command(const StepView& step) const {
  std::vector<std::string> commands;
  collect_changing_commands(step.input, rules_.content.tools.calls, commands);
  return !commands.empty() || has_statement(step.input, Statement::kChangeRows) || has_statement(step.input, Statement::kOther);
}

/// True when a later call of another tool does what the failed one was for, by the verb in its name or by most of its values: the same by
/// other means.
bool PassedOver::took_over(const StepView& step, const StepView& later, const std::vector<CallValue>& values) {
  const auto& groups = scene_.recovery.meaning(step.name).groups;
  const auto& others = scene_.recovery.meaning(later.name).groups;
  // Two tools that send may send anything.
  const auto same = [&](auto group) {
    return group != rules_.send_group && std::find(others.begin(), others.end(), group) != others.end();
  };
  if (std::any_of(groups.begin(), groups.end(), same)) return true;
  const auto told = std::count_if(values.begin(), values.end(), [](const CallValue& value) { return value.text.size() >= 3; });
  const auto kept = std::count_if(values.begin(), values.end(), [&](const CallValue& value) {
    return value.text.size() >= 3 && later.input.find(value.text) != std::string_view::npos;
  });
  return told > 1 && 2 * kept > told;
}

/// True for a word of what another call did, of its name or its arguments.
bool PassedOver::named_by_done(const RunView& run, std::string_view word) const {
  if (scene_.done_words.contains(hash_bytes(word))) return true;
  const std::vector<std::string> words{std::string(word)};
  return std::any_of(run.steps.begin(), run.steps.end(), [&](const StepView& step) {
    const auto at = static_cast<std::size_t>(&step - run.steps.data());
    return step.kind == Kind::kTool && scene_.failures[at] == Failure::kNone && names_any(step.name, words);
  });
}

/// True when the message says in general that all is done, or when it or a user turn has a word of the call's arguments or of what its tool
/// is named after: nobody missed the call otherwise.
bool PassedOver::is_missed(const RunView& run, const StepView& step, const FinalMessage& message) {
  constexpr std::size_t kTelling = 4, kMostBytes = 4096;
  if (claims_.says_all_done()) return true;
  std::string told, part;
  const auto hear = [&](std::string_view text) {
    run.pace(std::min(text.size(), kMostBytes));
    fold(text.substr(0, kMostBytes), part);
    told.append(part).append("\n");
  };
  hear(message.text);
  hear(run.user_request);
  for (const auto& other : run.steps) {
    if (other.kind == Kind::kUser && told.size() < 4 * kMostBytes) hear(other.said());
  }
  fold(step.input.substr(0, kMostBytes), part);
  const bool named = !for_each_word(part, [&](std::string_view word) {
    return word.size() < kTelling || claims_.is_small_word(word) || told.find(word) == std::string::npos || named_by_done(run, word);
  });
  if (named) return true;
  std::vector<std::string> words;
  split_tool_name(base_name(step.name), words);
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    if (word.ends_with('s')) word.remove_suffix(1);
    return word.size() >= kTelling && told.find(word) != std::string::npos;
  });
}

bool PassedOver::went_on(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  constexpr std::uint64_t kOpen = kCueNothingFound | kCueSimulated | kCuePlan | kCueOffer;
  constexpr std::size_t kLongestName = 64;
  const auto& step = run.steps[failed.step];
  if (!message.found || step.kind != Kind::kTool || step.name.size() > kLongestName || !may_be_deed(step)) return false;
  if (scene_.reading.admits() || scene_.reading.hands_over() || scene_.reading.asks() || scene_.reading.denies ||
      has(scene_.reading.cues, kOpen) || claims_.tells_own_trouble(run, message.place) || claims_.denies_of(step) ||
      !scene_.reading.understood(message.text))
    return false;
  std::vector<CallValue> values;
  collect_values(step.input, rules_.content.tools.calls, values);
  if (values.size() > kMostValues) values.resize(kMostValues);
  const bool anything = scene_.recovery.meaning(step.name).runs_anything();
  bool another = false;
  for (auto i = failed.step + 1; i < std::min(message.place, run.steps.size()); ++i) {
    const auto& later = run.steps[i];
    if (later.kind == Kind::kUser) return false;
    if (later.kind != Kind::kTool || scene_.failures[i] != Failure::kNone) continue;
    run.pace(later.input.size());
    if (later.name == step.name ? !anything : took_over(step, later, values)) return false;
    another |= anything || may_be_deed(later);
  }
  if (!another || made_good_.owned_up_after(run, failed.step) || made_good_.says_already(step) || claims_.gives_its_reason(step) ||
      claims_.has_word_of_reason(run, step))
    return false;
  claims_.index_told();
  return claims_.speaks_of(run, step) && is_missed(run, step, message);
}

bool PassedOver::claims_thing_of(const RunView& run, const FailedStep& failed) {
  collect_values(run.steps[failed.step].input, rules_.content.tools.calls, scene_.values);
  const auto given_later = [&](std::string_view text) {
    return std::any_of(run.steps.begin() + static_cast<std::ptrdiff_t>(failed.step) + 1, run.steps.end(), [&](const StepView& later) {
      run.pace(later.output.size());
      return later.kind == Kind::kTool && later.output.find(text) != std::string_view::npos;
    });
  };
  HashSet told;  // words with digits in sentences that report a deed
  std::uint32_t last = static_cast<std::uint32_t>(scene_.reading.sentences.size());
  for (const auto& claim : scene_.reading.claims) {
    if (claim.finding || claim.verb == kNoVerb || claim.sentence == last || rules_.lexicon.verb(claim.verb).group == rules_.find_group)
      continue;
    last = claim.sentence;
    const auto& sentence = scene_.reading.sentences[claim.sentence];
    for (auto i = sentence.begin; i < sentence.end; ++i) {
      if (has_digit(scene_.reading.words[i].text)) told.insert(hash_bytes(scene_.reading.words[i].text));
    }
  }
  std::size_t tried = 0;
  return std::any_of(scene_.values.begin(), scene_.values.end(), [&](const CallValue& value) {
    const bool id = value.names_object && has_digit(value.text) && value.text.size() >= 4 && value.text.size() <= kLongestValue;
    if (!id || scene_.done_values.contains(value.normal) || ++tried > kMostValues) return false;
    // A reading splits "SUB-20919" into two words.
    fold(value.text, scene_.folded);
    const auto sign = scene_.folded.find_last_of("-_#");
    const auto number = std::string_view(scene_.folded).substr(sign == std::string::npos ? 0 : sign + 1);
    return told.contains(hash_bytes(number)) && !given_later(value.text);
  });
}

/// True when a line of the message with a tick names a value that only the failed call has: "| 10457: 6815 to 6845 | done |" with a check
/// mark.
bool PassedOver::ticks_off(const StepView& step, std::string_view message) {
  constexpr std::size_t kShortest = 3;
  constexpr std::string_view kTicks[] = {"\u2713", "\u2714", "\u2705", "\u2611", "[x]"};
  collect_values(step.input, rules_.content.tools.calls, scene_.values);
  std::erase_if(scene_.values, [&](const CallValue& value) {
    return value.text.size() < kShortest || value.text.size() > kLongestValue || scene_.done_values.contains(value.normal) ||
           is_placeholder(value) || claims_.is_small_word(value.text);
  });
  if (scene_.values.size() > kMostValues) scene_.values.resize(kMostValues);
  for (std::size_t at = 0; at < message.size() && !scene_.values.empty();) {
    const auto end = std::min(message.find('\n', at), message.size());
    const auto line = message.substr(at, end - at);
    at = end + 1;
    const bool ticked =
        std::any_of(std::begin(kTicks), std::end(kTicks), [&](auto tick) { return line.find(tick) != std::string_view::npos; });
    if (ticked &&
        std::any_of(scene_.values.begin(), scene_.values.end(), [&](const CallValue& value) { return names_entity(line, value.text); }))
      return true;
  }
  return false;
}

/// The confidence that a message treats a failed deed as done without mentioning the failure: it speaks of what only that call was about,
/// and neither it nor anything before it admits a failure. It need not say that anything was done.
double PassedOver::passed_over(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  constexpr double kUntold = 0.3, kPassedOver = 0.7;
  const auto& step = run.steps[failed.step];
  const auto& tool = scene_.recovery.meaning(step.name);
  const bool deed = tool.group != 0 && !tool.reads && !tool.any_purpose;
  // When the tool's name says nothing, the message must report the deed.
  const bool told_done = tool.unknown && claims_.tells_any_deed();
  // When a tool that can do anything gets arguments that only name things, it was called for one deed.
  const bool names_things = tool.runs_anything() && tool.group != 0 && asks_by_names(step.input, rules_.content.tools.calls);
  const bool run_last = tool.runs_anything() && ends_in_failure(step.output, rules_.program_words) && closes_behind(run, failed, message);
  const bool sought = tool.reads && claims_thing_of(run, failed);
  const bool ticked = !tool.reads && ticks_off(step, message.text);
  if (tool.meaningless || !(deed || ticked || told_done || run_last || names_things || sought) || !scene_.reading.understood(message.text))
    return kUntold;
  if (ends_in_plan(scene_.reading) || has(scene_.reading.cues, kCueNothingFound | kCueSimulated | kCueHandover | kCueAdmission))
    return kUntold;
  if (claims_.leaves_it_to_user(tool)) return kUntold;
  // A tool for any purpose, or the user, may have settled it since.
  std::vector<CallValue> own;
  collect_values(step.input, rules_.content.tools.calls, own);
  for (auto i = failed.step + 1; i < std::min(message.place, run.steps.size()); ++i) {
    const auto& later = run.steps[i];
    if (later.kind == Kind::kUser) return kUntold;
    if (later.kind != Kind::kTool || scene_.failures[i] != Failure::kNone) continue;
    const auto& other = scene_.recovery.meaning(later.name);
    run.pace(later.input.size());
    const bool elsewhere = asks_by_names(later.input, rules_.content.tools.calls) && !names_any_of(later.input, own);
    if (other.any_purpose && (!other.unknown || later.name == step.name) && !elsewhere) return kUntold;
  }
  if (made_good_.says_already(step) || claims_.tells_failure(run, step) || claims_.has_word_of_reason(run, step) ||
      made_good_.went_through_later(run, failed) || told_apart(run, step))
    return kUntold;
  claims_.index_told();
  const bool of_all = !negates_anything(scene_.reading) && tells_of_all(run, step);
  if (!ticked && !tells_of_undone(step) && !of_all && !run_last && !((deed || told_done) && closes_behind_deed(run, failed, message)))
    return kUntold;
  if (made_good_.owned_up_after(run, failed.step)) return kUntold;
  return !ticked && made_good_.silence(run, failed, message).has_value() ? kUntold : kPassedOver;
}

/// True when the agent mentioned trouble or denied something after a step.
bool PassedOver::doubted_after(const RunView& run, std::size_t step) {
  const auto doubts = [&](std::string_view text) {
    read(text, rules_.lexicon, scene_.scratch);
    return scene_.scratch.denies || scene_.scratch.hands_over() ||
           has(scene_.scratch.cues, kCueAdmission | kCueTrouble | kCueNothingFound) || negates_anything(scene_.scratch);
  };
  for (auto i = step + 1; i < run.steps.size(); ++i) {
    if (run.steps[i].kind == Kind::kModel && doubts(run.steps[i].output)) return true;
  }
  return doubts(run.outcome);
}

/// The agent's last message between a step and the user's next turn, if that turn comes before the final message and before any tool call.
FinalMessage PassedOver::told_at_once(const RunView& run, std::size_t step, const FinalMessage& message) {
  std::size_t said = kNoStep;
  for (auto i = step + 1; i < std::min(message.place, run.steps.size()); ++i) {
    const auto& later = run.steps[i];
    if (later.kind == Kind::kTool) return {};
    if (later.kind == Kind::kModel && !trim(later.output).empty()) said = i;
    if (later.kind == Kind::kUser) return said == kNoStep ? FinalMessage{} : FinalMessage{run.steps[said].output, said, said, true};
  }
  return {};
}

/// True when a later call about the same thing failed as well: the last one decides how it ended.
bool PassedOver::called_again(const RunView& run, const FailedStep& failed, std::size_t end) {
  std::vector<CallValue> own;
  collect_values(run.steps[failed.step].input, rules_.content.tools.calls, own);
  return std::any_of(scene_.failed.rbegin(), scene_.failed.rend(), [&](const FailedStep& later) {
    const auto& step = run.steps[later.step];
    if (later.step <= failed.step || later.step >= end || step.name != run.steps[failed.step].name) return false;
    run.pace(step.input.size());
    return names_any_of(step.input, own);
  });
}

/// How sure it is that the last message passes over a failure, or the one right after the failure if that is surer.
PassedOver::Untold PassedOver::untold(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  Untold late{failed, message, passed_over(run, failed, message)};
  const auto at_once = told_at_once(run, failed.step, message);
  if (!at_once.found || late.sure > kNoTrouble || claims_.gives_its_reason(run.steps[failed.step]) || doubted_after(run, at_once.place))
    return late;
  read(at_once.text, rules_.lexicon, scene_.reading);
  scene_.forget_message();
  const bool open_yet = scene_.reading.asks() || scene_.reading.denies || has(scene_.reading.cues, kCueTrouble);
  const Untold early{failed, at_once, open_yet ? 0 : std::max(late.sure, passed_over(run, failed, at_once))};
  (void)find_final_message(run, rules_.lexicon, scene_.reading);
  scene_.forget_message();
  return early;
}

void PassedOver::find_untold_failure(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr std::size_t kMostOpen = 4;
  const auto end = std::min(message.place, run.steps.size());
  const auto open = [&](const FailedStep& failed) {
    return failed.step < end && !failed.recovered && run.steps[failed.step].kind == Kind::kTool;
  };
  const auto last = std::find_if(scene_.failed.rbegin(), scene_.failed.rend(), open);
  if (last == scene_.failed.rend()) return;
  if (scene_.reading.asks() || scene_.reading.denies || denies_of_self(scene_.reading) || has(scene_.reading.cues, kCueTrouble)) return;
  Untold surest{*last, message, 0};
  std::size_t looked = 0;
  for (auto failed = last; failed != scene_.failed.rend() && looked < kMostOpen; ++failed) {
    if (!open(*failed)) continue;
    ++looked;
    if (called_again(run, *failed, end)) continue;
    const auto now = untold(run, *failed, message);
    if (now.sure > surest.sure) surest = now;
  }
  const FiringLine::Doubt doubt{"untold_failure", surest.failed.step,
                                "nothing made up for this failure, and the final message does not mention it"};
  if (verdict.has_candidate && !rules_.line.would_fire(surest.sure)) return;
  if (!rules_.line.fires(surest.sure, doubt, verdict)) return;
  scene_.flag_only = false;
  verdict.fire(outcomes_.finding(run, surest.failed, surest.message), surest.sure);
}

/// True when a sentence of the message in scene_.reading states one of the facts: no question, and nothing denied or open.
bool PassedOver::states_any(const std::vector<Fact>& given) {
  constexpr std::uint64_t kOpen = kCueModal | kCueCondition | kCueHypothesis | kCuePlan | kCueOffer | kCueTrouble | kCueAdmission |
                                  kCueNothingFound | kCueSimulated | kCueExample | kCueAlready;
  const auto& words = scene_.reading.words;
  std::vector<Fact> said;
  return std::any_of(scene_.reading.sentences.begin(), scene_.reading.sentences.end(), [&](const Sentence& sentence) {
    if (sentence.begin == sentence.end || sentence.question || sentence.nonfactual || has(sentence.cues, kOpen) ||
        negates_anything(scene_.reading, sentence))
      return false;
    const auto* begin = words[sentence.begin].text.data();
    const auto& last = words[sentence.end - 1].text;
    collect_facts({begin, static_cast<std::size_t>(last.data() + last.size() - begin)}, said, rules_.fact_words);
    return std::any_of(said.begin(), said.end(), [&](const Fact& fact) {
      return std::any_of(given.begin(), given.end(), [&](const Fact& one) { return one.kind == fact.kind && one.normal == fact.normal; });
    });
  });
}

/// Strikes what another call returned, or was given when it succeeded.
void PassedOver::strike_known(const RunView& run, std::size_t failed, std::size_t end, std::vector<Fact>& given) {
  constexpr std::size_t kReach = 16 * 1024;  // bytes of a text
  std::vector<Fact> known;
  const auto strike = [&](std::string_view text) {
    text = text.substr(0, kReach);
    run.pace(text.size());
    collect_facts(text, known, rules_.fact_words);
    for (const auto& fact : known)
      std::erase_if(given, [&](const Fact& one) { return one.kind == fact.kind && one.normal == fact.normal; });
  };
  for (std::size_t i = 0; i < end && !given.empty(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool || i == failed) continue;
    strike(step.output);
    if (scene_.failures[i] == Failure::kNone) strike(step.input);
  }
}

void PassedOver::find_stated_value(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr std::size_t kMostOpen = 4, kMostGiven = 32, kReach = 4096;  // failures; facts of one, and bytes that are read for them
  constexpr double kStated = 0.65;
  const auto end = std::min(message.place, run.steps.size());
  if (negates_anything(scene_.reading) || !scene_.reading.understood(message.text)) return;
  // "At 19:30 all is taken. 18:00 would be free: which shall I take?"
  const auto& sentences = scene_.reading.sentences;
  if (scene_.reading.claims.empty() && std::any_of(sentences.begin(), sentences.end(), [](const Sentence& one) { return one.question; }))
    return;
  std::size_t looked = 0;
  std::vector<Fact> given;
  for (auto failed = scene_.failed.rbegin(); failed != scene_.failed.rend() && looked < kMostOpen; ++failed) {
    const auto& step = run.steps[failed->step];
    if (failed->step >= end || failed->recovered || step.kind != Kind::kTool) continue;
    const auto& tool = scene_.recovery.meaning(step.name);
    if (tool.reads || tool.group == 0) continue;
    ++looked;
    if (called_again(run, *failed, end) || user_replied(run, failed->step, end)) continue;
    collect_facts(step.input.substr(0, kReach), given, rules_.fact_words);
    // A bare number may name the thing: "card 3307".
    std::erase_if(given, [](const Fact& fact) { return fact.kind != FactKind::kDate && fact.kind != FactKind::kTime && !fact.money; });
    if (given.size() > kMostGiven) given.resize(kMostGiven);
    strike_known(run, failed->step, end, given);
    if (given.empty() || !states_any(given) || claims_.gives_its_reason(step) || claims_.has_word_of_reason(run, step)) continue;
    const FiringLine::Doubt doubt{"stated_value", failed->step, "the final message states what only the failed call was given"};
    if (!rules_.line.fires(kStated, doubt, verdict)) continue;
    scene_.flag_only = false;
    return verdict.fire(outcomes_.finding(run, *failed, message), kStated);
  }
}

/// The last failed call that names the file. nullptr if there is none, if a successful call names the file, or if one since the first
/// failure may have changed something.
const FailedStep* PassedOver::only_failed_for(const RunView& run, std::string_view file, std::size_t end) {
  const FailedStep* last = nullptr;
  for (std::size_t i = 0; i < end; ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool) continue;
    run.pace(step.input.size() + step.output.size());
    const bool failed = scene_.failures[i] != Failure::kNone;
    if (step.input.find(file) == std::string_view::npos) {
      if (!failed && (step.output.find(file) != std::string_view::npos || (last != nullptr && !scene_.recovery.meaning(step.name).reads)))
        return nullptr;
      continue;
    }
    if (!failed) return nullptr;
    const auto at = std::find_if(scene_.failed.begin(), scene_.failed.end(), [&](const FailedStep& other) { return other.step == i; });
    if (at != scene_.failed.end()) last = &*at;
  }
  return last;
}

/// True when a sentence of the message in scene_.reading reports a deed and names the file.
bool PassedOver::claims_in_sentence_with(std::string_view file) {
  fold(file, scene_.folded);
  const auto& words = scene_.reading.words;
  auto searched = static_cast<std::uint32_t>(scene_.reading.sentences.size());
  return std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), [&](const Claim& claim) {
    if (claim.sentence == searched) return false;
    if (claim.finding || claim.verb == kNoVerb || claim.in_progress || !tells_deed(scene_.reading, claim)) return false;
    searched = claim.sentence;
    const auto& sentence = scene_.reading.sentences[claim.sentence];
    const auto& last = words[sentence.end - 1].text;
    const std::string_view told(words[sentence.begin].text.data(), last.data() + last.size());
    return told.find(scene_.folded) != std::string_view::npos;
  });
}

void PassedOver::find_failed_tests(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr double kFailedTests = 0.8;
  constexpr std::string_view kPassed = " passed";  // as test runners count
  if (scene_.reading.admits() || !passing_reports_.may_be_in(message.text)) return;
  for (auto i = std::min(message.place, run.steps.size()); i-- > 0;) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool) continue;
    run.pace(step.output.size());
    if (!counts_failed_tests(step.output, rules_.program_words)) {
      if (step.output.find(kPassed) != std::string_view::npos) return;
      continue;
    }
    claims_.index_message();
    if (!passing_reports_.in(scene_.reading.folded, scene_.said)) return;
    if (claims_.gives(failed_test_count(step.output, rules_.program_words)) &&
        claims_.gives(passed_test_count(step.output, rules_.program_words)))
      return;
    const FiringLine::Doubt doubt{"failed_tests", i, "the last tests that ran failed, and the final message says that they pass"};
    if (!rules_.line.fires(kFailedTests, doubt, verdict)) return;
    scene_.flag_only = false;
    return verdict.fire(outcomes_.finding(run, {i, Failure::kSoft, false}, message), kFailedTests);
  }
}

void PassedOver::find_unmade_file(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr double kUnmade = 0.8;
  constexpr std::size_t kMost = 8;
  std::string buffer;
  std::vector<std::string_view> files;
  collect_artifacts(prose_of(message.text, buffer), kMost, files);
  for (const auto file : files) {
    if (file.find("://") != std::string_view::npos || !claims_in_sentence_with(file)) continue;
    const auto* failed = only_failed_for(run, file, std::min(message.place, run.steps.size()));
    if (failed == nullptr) continue;
    const FiringLine::Doubt doubt{"unmade_file", failed->step, "every call that names the file failed"};
    if (!rules_.line.fires(kUnmade, doubt, verdict)) return;
    scene_.flag_only = false;
    verdict.fire(outcomes_.finding(run, *failed, message), kUnmade);
    return;
  }
}

/// Collects the names that the run uses for the thing with this id: the texts in the JSON objects around the id in earlier outputs.
void PassedOver::collect_aliases(const RunView& run, std::string_view id, std::size_t end, std::vector<std::string_view>& names) const {
  constexpr std::size_t kMost = 4;
  names.assign(1, id);
  // Of a mail address, the part before the sign.
  constexpr std::size_t kShortest = 2;  // bytes of that
  if (const auto sign = id.find('@'); sign != std::string_view::npos && sign >= kShortest) names.push_back(id.substr(0, sign));
  for (std::size_t i = 0; i < end && names.size() < kMost; ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool) continue;
    run.pace(step.output.size());
    const auto at = step.output.find(id);
    if (at == std::string_view::npos) continue;
    const auto open = step.output.rfind('{', at);
    const auto close = step.output.find('}', at);
    if (open == std::string_view::npos || close == std::string_view::npos) continue;
    std::vector<CallValue> values;
    collect_values(step.output.substr(open, close - open + 1), rules_.content.tools.calls, values);
    for (const auto& value : values) {
      const bool name = value.text.size() >= 3 && value.text.size() <= kLongestValue && !has_digit(value.text) && value.text != id;
      if (name && names.size() < kMost && is_upper(value.text[0])) names.push_back(value.text);
    }
  }
}

/// True when a sentence that denies nothing gives this number of things: "the six labels are ready".
bool PassedOver::tells_number(std::size_t all) const {
  constexpr std::size_t kMostSpoken = 9;
  const auto number = std::to_string(all);
  return all > 0 && std::any_of(scene_.reading.words.begin(), scene_.reading.words.end(), [&](const ReadWord& word) {
           const char spoken = all <= kMostSpoken ? rules_.fact_words.spoken(word.text) : '\0';
           return (word.text == number || spoken == number[0]) && scene_.told.contains(hash_bytes(word.text));
         });
}

/// True when the message mentions the thing in this row, in a sentence that denies nothing, or speaks of all things together.
bool PassedOver::tells_of_row(const RunView& run, const OddRow& row, std::size_t end) {
  if (tells_number(row.of)) return true;
  if (row.id.empty()) return false;
  std::vector<std::string_view> names;
  collect_aliases(run, row.id, end, names);
  const auto any_word = [&](const HashSet& words) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return claims_.all_words_in(name, words); });
  };
  claims_.index_message();
  if (any_word(scene_.said)) return any_word(scene_.told);
  if (names.size() == 1) return false;  // the message may use a name that the run does not show
  return std::any_of(rules_.all_words.begin(), rules_.all_words.end(),
                     [&](const auto& word) { return scene_.told.contains(hash_bytes(word)); });
}

/// What the answer of a call says of several things: the odd ones, and whether some are counted as failed and no later call of the tool
/// counts anew. Call for the last step first.
bool PassedOver::read_parts(const StepView& step, Parts& parts) {
  constexpr std::size_t kMostNames = 32;
  collect_odd_rows(step.output, rules_.outcome_words, rules_.lexicon, parts.odd);
  const auto counts = counts_failed_ones(step.output, rules_.outcome_words, rules_.lexicon);
  parts.counted = counts && counts->failed && !among(step.name, parts.counting);
  parts.all = counts ? counts->all : 0;
  if (counts && parts.counting.size() < kMostNames) parts.counting.push_back(step.name);
  return parts.counted || !parts.odd.empty();
}

/// True when the message, whose facts are indexed, speaks of the failed part of what this step was about as of the rest.
bool PassedOver::passes_over(const RunView& run, std::size_t at, const Parts& parts) {
  const auto told_of_all = [&](const auto& word) { return scene_.told.contains(hash_bytes(word)); };
  if (parts.counted && (tells_number(parts.all) || std::any_of(rules_.all_words.begin(), rules_.all_words.end(), told_of_all))) return true;
  const auto& step = run.steps[at];
  const auto& groups = scene_.recovery.meaning(step.name).groups;
  // A call of another kind that names the others as well, such as a mail to all, does not try it again.
  const auto same_kind = [&](const StepView& later) {
    const auto& others = scene_.recovery.meaning(later.name).groups;
    return groups.empty() || others.empty() ||
           std::find_first_of(groups.begin(), groups.end(), others.begin(), others.end()) != groups.end();
  };
  const auto again = [&](const OddRow& row) {
    return std::any_of(run.steps.begin() + static_cast<std::ptrdiff_t>(at) + 1, run.steps.end(), [&](const StepView& later) {
      if (later.kind != Kind::kTool) return false;
      if (later.name == step.name && later.input == step.input) return true;
      if (row.id.empty() || later.input.find(row.id) == std::string_view::npos) return false;
      return row.beside.empty() || later.input.find(row.beside) == std::string_view::npos || same_kind(later);
    });
  };
  return std::any_of(parts.odd.begin(), parts.odd.end(), [&](const OddRow& row) { return !again(row) && tells_of_row(run, row, at); });
}

void PassedOver::find_partly_failed(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr double kPartly = 0.65;
  constexpr std::uint64_t kOpen = kCueTrouble | kCueNothingFound | kCueAdmission | kCueHandover | kCueSimulated | kCuePlan;
  constexpr int kMostAsked = 4;  // each check scans the whole run
  int asked = 0;
  Parts parts;
  for (auto i = std::min(message.place, run.steps.size()); i-- > 0 && rules_.soft_failures && asked < kMostAsked;) {
    const auto& step = run.steps[i];
    if (step.kind == Kind::kUser) return;
    if (step.kind != Kind::kTool || scene_.failures[i] != Failure::kNone) continue;
    if (scene_.recovery.meaning(step.name).reads || scene_.recovery.meaning(step.name).meaningless) continue;
    run.pace(step.output.size());
    if (!read_parts(step, parts)) continue;
    if (asked++ == 0) {
      if (scene_.reading.asks() || scene_.reading.denies || has(scene_.reading.cues, kOpen) || !scene_.reading.understood(message.text))
        return;
      claims_.index_told();
    }
    if (!passes_over(run, i, parts)) continue;
    const FiringLine::Doubt doubt{"partly_failed", i, "one of several actions failed, and the final message reports it like the others"};
    if (!rules_.line.fires(kPartly, doubt, verdict)) return;
    scene_.flag_only = false;
    verdict.fire(outcomes_.finding(run, {i, Failure::kSoft, false}, message), kPartly);
    return;
  }
}

/// True when the user asked about the very thing of a failed call, and the message does not name it, but does name one for which another
/// call of the tool succeeded.
bool PassedOver::leaves_out(const RunView& run, const FailedStep& failed, std::string_view turn) {
  const auto& step = run.steps[failed.step];
  constexpr std::size_t kMostOwn = 8;
  constexpr std::size_t kMostBytes = 4096;  // of the turn
  std::vector<CallValue> own;
  collect_values(step.input, rules_.content.tools.calls, own);
  if (own.size() > kMostOwn) own.resize(kMostOwn);
  turn = turn.substr(0, kMostBytes);
  const auto named = [&](const CallValue& value) {
    return value.text.size() >= 3 && value.text.size() <= kLongestValue && !is_placeholder(value) && !claims_.is_small_word(value.text) &&
           names_entity(turn, value.text);
  };
  // "Lanyard" counts as Lanyard BV.
  const auto told_in_part = [&](std::string_view text) {
    constexpr std::size_t kTelling = 4;
    return claims_.mentioned(text, false) ||
           !for_each_word(text, [&](std::string_view word) { return word.size() < kTelling || !claims_.mentioned(word, false); });
  };
  for (const auto& value : own) {
    if (!named(value) || told_in_part(value.text)) continue;
    bool shared = false;
    bool other_told = false;
    for (std::size_t i = 0; i < run.steps.size() && !shared; ++i) {
      const auto& other = run.steps[i];
      if (i == failed.step || other.kind != Kind::kTool || other.name != step.name || scene_.failures[i] != Failure::kNone) continue;
      run.pace(other.input.size());
      collect_values(other.input, rules_.content.tools.calls, scene_.values);
      if (scene_.values.size() > kMostValues) scene_.values.resize(kMostValues);
      for (const auto& theirs : scene_.values) {
        if (theirs.key != value.key) continue;
        shared |= theirs.normal == value.normal;
        other_told = other_told || (theirs.text.size() <= kLongestValue && claims_.mentioned(theirs.text, false) && named(theirs));
      }
    }
    if (!shared && other_told) return true;
  }
  return false;
}

/// "The cheapest of the five": true when the message gives, in a word, the number of all calls of the failed tool since the user's turn.
bool PassedOver::counts_it_in(const RunView& run, const FailedStep& failed) {
  const auto& step = run.steps[failed.step];
  if (failed.recovered || claims_.names_undone(step)) return false;
  claims_.index_told();
  return std::any_of(scene_.reading.words.begin(), scene_.reading.words.end(), [&](const ReadWord& word) {
    return !is_digit(word.text[0]) && scene_.told.contains(hash_bytes(word.text)) && claims_.counts_all(run, failed.step, word.text);
  });
}

void PassedOver::find_left_out(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr double kLeftOut = 0.65;
  constexpr std::size_t kMostAsked = 4;  // each check scans the whole run
  constexpr std::uint64_t kOpen = kCueTrouble | kCueNothingFound | kCueAdmission | kCueHandover | kCueSimulated | kCuePlan;
  if (scene_.reading.asks() || has(scene_.reading.cues, kOpen) || !scene_.reading.understood(message.text)) return;
  if (negates_anything(scene_.reading)) return;
  const auto last = std::find_if(run.steps.rbegin(), run.steps.rend(), [](const StepView& step) { return step.kind == Kind::kUser; });
  const auto turn = last == run.steps.rend() ? run.user_request : last->said();
  std::size_t asked = 0;
  for (auto failed = scene_.failed.rbegin(); failed != scene_.failed.rend() && asked < kMostAsked; ++failed) {
    const auto& step = run.steps[failed->step];
    if (failed->step >= std::min(message.place, run.steps.size()) || step.kind != Kind::kTool ||
        !asks_by_names(step.input, rules_.content.tools.calls))
      continue;
    if (!outcomes_.is_source(step.name) || scene_.recovery.meaning(step.name).meaningless) continue;
    ++asked;
    if (!leaves_out(run, *failed, turn) && !counts_it_in(run, *failed)) continue;
    const FiringLine::Doubt doubt{"left_out", failed->step, "the final message omits one of the things that the user asked about"};
    if (!rules_.line.fires(kLeftOut, doubt, verdict)) return;
    scene_.flag_only = false;
    verdict.fire(outcomes_.finding(run, *failed, message), kLeftOut);
    return;
  }
}

/// The last look-up of a run whose only calls were look-ups, all of which found nothing; kNoStep otherwise.
std::size_t PassedOver::found_nothing(const RunView& run, std::size_t end) {
  std::size_t last = kNoStep;
  for (std::size_t i = 0; i < end; ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool || names_any(step.name, rules_.content.tools.thinking_words)) continue;
    const auto& tool = scene_.recovery.meaning(step.name);
    // What only works something out looks for nothing.
    if (!tool.reads || tool.may_look || tool.runs_anything() || scene_.failures[i] != Failure::kNone || !present(step.output))
      return kNoStep;
    if (!is_empty_output(step.output, rules_.lexicon, rules_.content, step.input)) return kNoStep;
    last = i;
  }
  return last;
}

/// True when the user's last turn opens with a question for knowledge: "What lots do they sell?"
bool PassedOver::asks_to_know(const RunView& run) {
  const auto turn = std::find_if(run.steps.rbegin(), run.steps.rend(), [](const StepView& step) { return step.kind == Kind::kUser; });
  read_words(turn == run.steps.rend() ? run.user_request : turn->said(), rules_.lexicon, scene_.scratch);
  return !scene_.scratch.words.empty() && has(scene_.scratch.words.front().cues, kCueAsking);
}

void PassedOver::find_deed_on_nothing(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr double kOnNothing = 0.65;
  constexpr std::uint64_t kOwnsUp = kCueTrouble | kCueNothingFound | kCueAdmission | kCueHandover | kCueSimulated;
  constexpr std::uint64_t kOpen = kCueHypothesis | kCueOffer | kCuePlan;
  const auto end = std::min(message.place, run.steps.size());
  const auto step = rules_.soft_failures ? found_nothing(run, end) : kNoStep;
  if (step == kNoStep || scene_.reading.asks() || has(scene_.reading.cues, kOwnsUp) || !scene_.reading.understood(message.text)) return;
  // "They have been archived, so they won't be in your way": what comes after the deed that was asked for takes nothing back.
  const bool plain = !scene_.reading.denies && !has(scene_.reading.cues, kOpen) && !negates_anything(scene_.reading);
  const bool told =
      plain ? claims_.tells_own_deed(0) : claims_.tells_own_deed(kOpen | kCueNegation) && claims_.claims_what_was_asked(run, end);
  if (!told) return;
  claims_.index_told();
  if (scene_.told.contains(hash_bytes("0")) || !claims_.speaks_of(run, run.steps[step]) || asks_to_know(run)) return;
  const FiringLine::Doubt doubt{"deed_on_nothing", step, "no lookup found the object of an action that the final message reports"};
  if (!rules_.line.fires(kOnNothing, doubt, verdict)) return;
  scene_.flag_only = false;
  verdict.fire(outcomes_.finding(run, {step, Failure::kSoft, false}, message), kOnNothing);
}

/// The latest of the last few calls whose short output has no form of a failure but mentions trouble: "The page could not be loaded."
/// kNoStep for none.
std::size_t PassedOver::last_trouble(const RunView& run) {
  constexpr std::size_t kLastCalls = 2;
  std::size_t looked = 0;
  std::string report;
  Reading last_line;  // scene_.scratch keeps the output
  for (auto i = run.steps.size(); i-- > 0 && looked < kLastCalls;) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool) continue;
    ++looked;
    if (scene_.failures[i] != Failure::kNone ||
        !speaks_of_trouble(without_content(step.output, rules_.outcome_words, report), rules_.lexicon, scene_.scratch))
      continue;
    run.pace(step.input.size());
    if (!only_repeats(step.input) && !tells_its_deed(step) && !ends_well(step.output, rules_.lexicon, last_line)) return i;
  }
  return kNoStep;
}

/// True when every word of trouble in the output that scene_.scratch holds was in the call's own input: a note is kept as it was sent.
bool PassedOver::only_repeats(std::string_view input) {
  fold(input, scene_.folded);
  return names_trouble_of(scene_.folded, scene_.scratch);
}

/// True when a member of the output is what the tool is named after, or the message says, as done: {"state": "voided", "note": "nothing was
/// captured"}.
bool PassedOver::tells_its_deed(const StepView& step) {
  constexpr std::size_t kLongest = 24;  // bytes of a value that is one word
  const auto& groups = scene_.recovery.meaning(step.name).groups;
  claims_.index_told();
  JsonScanner cursor(trim(step.output));
  for (auto token = cursor.next(); token != JsonScanner::Token::kEnd && token != JsonScanner::Token::kBad; token = cursor.next()) {
    if (token != JsonScanner::Token::kString || cursor.text().size() > kLongest) continue;
    fold(cursor.text(), scene_.folded);
    const auto* entry = rules_.lexicon.find(scene_.folded);
    if (!is_participle(entry)) continue;
    if (scene_.told.contains(hash_bytes(scene_.folded))) return true;
    if (std::find(groups.begin(), groups.end(), rules_.lexicon.verb(entry->verb).group) != groups.end()) return true;
  }
  return false;
}

/// True when the output in scene_.scratch says that a deed was not done, "could not approve; release skipped", that the final message
/// reports, by its verb or in general, and no later call may have done it.
bool PassedOver::reports_undone(const RunView& run, std::size_t at) const {
  constexpr std::uint64_t kUndone = kCueAdmission | kCueTrouble;
  const auto& output = scene_.scratch;
  const auto group_of = [&](std::uint16_t verb) { return rules_.lexicon.verb(verb).group; };
  const auto done_since = [&](std::uint16_t group) {
    return std::any_of(run.steps.begin() + static_cast<std::ptrdiff_t>(at) + 1, run.steps.end(), [&](const StepView& later) {
      if (later.kind != Kind::kTool) return false;
      const auto& tool = scene_.recovery.meaning(later.name);
      return tool.any_purpose || std::find(tool.groups.begin(), tool.groups.end(), group) != tool.groups.end();
    });
  };
  const auto claimed = [&](std::uint16_t group) {
    return std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(),
                       [&](const Claim& claim) { return !claim.finding && (claim.verb == kNoVerb || group_of(claim.verb) == group); });
  };
  return std::any_of(output.sentences.begin(), output.sentences.end(), [&](const Sentence& sentence) {
    const bool troubled = has(sentence.cues, kUndone);
    return std::any_of(output.words.begin() + sentence.begin, output.words.begin() + sentence.end, [&](const ReadWord& word) {
      if (word.entry == nullptr || word.entry->verb == kNoVerb || (word.entry->forms & (kFormBase | kFormDone)) == 0) return false;
      const bool first = &word == output.words.data() + sentence.begin;
      const bool negated = (word.entry->forms & kFormDone) != 0 && !first && has((&word - 1)->cues, kCueNegation);
      if (!troubled && !negated) return false;
      const auto group = group_of(word.entry->verb);
      return claimed(group) && !reports_done(output, {&group, 1}, rules_.lexicon) && !done_since(group);
    });
  });
}

/// True when the output in scene_.scratch has a word of trouble that is neither denied, as in "0 errors", nor a label, as in "timeout: 30
/// s", nor only possible, as in "may be delayed" or "if a charge fails".
bool PassedOver::tells_plain_trouble() const {
  constexpr std::uint64_t kTold = kCueTrouble | kCueAdmission | kCueNothingFound;
  const auto& output = scene_.scratch;
  if (output.denies && !reports_before_denying(output)) return true;
  const auto follows = [&](const Sentence& sentence, std::uint32_t at, std::uint64_t cues) {
    return at > sentence.begin && has(output.words[at - 1].cues, cues);
  };
  return std::any_of(output.sentences.begin(), output.sentences.end(), [&](const Sentence& sentence) {
    for (auto i = sentence.begin; i < sentence.end && !has(output.words[i].cues, kCueCondition); ++i) {
      const auto& word = output.words[i];
      if (!has(word.cues, kTold)) continue;
      const auto* end = word.text.data() + word.text.size();
      const bool followed = end < output.folded.data() + output.folded.size();
      const bool label = followed && *end == ':';
      const bool zero = followed && *end == '=' && i + 1 < sentence.end && output.words[i + 1].text == "0";  // "skipped=0"
      const bool nothing = i + 1 < sentence.end && has(output.words[i + 1].cues, kCueEmptyWord);             // "error: none"
      const bool none = zero || nothing || follows(sentence, i, kCueNegation) || (i > sentence.begin && output.words[i - 1].text == "0");
      const bool possible = follows(sentence, follows(sentence, i, kCuePassive) ? i - 1 : i, kCueModal);
      if (!label && !none && !possible) return true;
    }
    return false;
  });
}

/// True when the output in scene_.scratch says that the deed of the tool's name or of the final message was done, whatever else it
/// mentions: "Order 5 cancelled. Refund is not included." Or that the call was taken under a reference.
bool PassedOver::reports_deed(const StepView& step) {
  if (gives_reference(step, rules_.outcome_words)) return true;
  auto groups = scene_.recovery.meaning(step.name).groups;
  for (const auto& claim : scene_.reading.claims) {
    if (claim.verb != kNoVerb) groups.push_back(rules_.lexicon.verb(claim.verb).group);
  }
  return reports_done(scene_.scratch, groups, rules_.lexicon);
}

/// True when a passage with a word of trouble, of an output that is in scene_.scratch, was in an earlier one: a diff of files that were
/// read before tells of their trouble, not of its own.
bool PassedOver::shows_again(const RunView& run, std::size_t at) {
  constexpr std::size_t kShortest = 24, kMost = 8;  // bytes of a passage, and passages looked for
  constexpr std::string_view kMarks = "+-<> ";      // before the lines of a diff
  constexpr std::size_t kMostWords = 16;            // of trouble
  const auto output = run.steps[at].output;
  std::vector<std::string_view> troubles;
  for (const auto& word : scene_.scratch.words) {
    if (has(word.cues, kCueTrouble) && troubles.size() < kMostWords) troubles.push_back(word.text);
  }
  const auto holds = [&](std::string_view trouble) { return scene_.folded.find(trouble) != std::string::npos; };
  std::size_t looked = 0;
  const auto seen = [&](std::string_view passage) {
    passage.remove_prefix(std::min(passage.find_first_not_of(kMarks), passage.size()));
    if (passage.size() < kShortest) return false;
    fold(passage, scene_.folded);
    if (std::none_of(troubles.begin(), troubles.end(), holds)) return false;
    if (looked++ == kMost) return false;
    return std::any_of(run.steps.begin(), run.steps.begin() + static_cast<std::ptrdiff_t>(at), [&](const StepView& before) {
      run.pace(before.output.size());
      return before.kind == Kind::kTool && before.output.find(passage) != std::string_view::npos;
    });
  };
  // A JSON text holds a line's end as an escape.
  for (std::size_t begin = 0; begin < output.size() && looked <= kMost;) {
    const auto end = std::min(output.find_first_of("\n\\\"", begin), output.size());
    if (seen(output.substr(begin, end - begin))) return true;
    begin = end + (end < output.size() && output[end] == '\\' ? 2 : 1);
  }
  return false;
}

/// True when the message in scene_.reading makes an exception: "but", "except".
bool PassedOver::contrasts() const {
  return std::any_of(scene_.reading.words.begin(), scene_.reading.words.end(),
                     [&](const ReadWord& word) { return among(word.text, rules_.contrast_words); });
}

/// True for rows of separated values under a head without figures: data about something, not what became of the call.
bool PassedOver::is_table(std::string_view output) {
  constexpr std::size_t kFewestLines = 3;
  constexpr std::ptrdiff_t kFewestColumns = 3;
  const auto head = output.substr(0, output.find('\n'));
  if (std::any_of(head.begin(), head.end(), is_digit)) return false;
  for (const char separator : {';', '\t', ','}) {
    const auto parted = std::count(head.begin(), head.end(), separator);
    if (parted + 1 < kFewestColumns) continue;
    std::size_t lines = 0;
    for (std::size_t begin = 0; begin < output.size() && lines < kFewestLines; ++lines) {
      const auto end = std::min(output.find('\n', begin), output.size());
      const auto line = output.substr(begin, end - begin);
      if (std::count(line.begin(), line.end(), separator) != parted) return false;
      begin = end + 1;
    }
    return lines == kFewestLines;
  }
  return false;
}

/// True when the output in scene_.scratch, of the tool's last call, plainly tells of trouble with a deed, and the message in scene_.reading
/// makes no exception.
bool PassedOver::passes_over_trouble(const RunView& run, std::size_t at) {
  constexpr std::uint64_t kOpen = kCueTrouble | kCuePlan | kCueSimulated;
  const auto& step = run.steps[at];
  const auto again = [&](const StepView& later) { return later.kind == Kind::kTool && later.name == step.name; };
  if (std::any_of(run.steps.begin() + static_cast<std::ptrdiff_t>(at) + 1, run.steps.end(), again)) return false;
  if (scene_.reading.denies || has(scene_.reading.cues, kOpen) || !claims_before_denying(scene_.reading)) return false;
  if (contrasts() || is_table(trim(step.output))) return false;
  Parts parts;
  return tells_plain_trouble() && !reports_deed(step) && may_be_deed(step) && !read_parts(step, parts) && !shows_again(run, at);
}

/// True when the run's last call most likely changed nothing of what it was to change, and the message in scene_.reading claims something,
/// or states something of what only this call was about, without an exception.
bool PassedOver::ends_undone(const RunView& run, std::size_t at) {
  constexpr double kLikely = 0.55;
  const auto is_call = [](const StepView& later) { return later.kind == Kind::kTool; };
  if (std::any_of(run.steps.begin() + static_cast<std::ptrdiff_t>(at) + 1, run.steps.end(), is_call)) return false;
  if (contrasts() || is_table(trim(run.steps[at].output))) return false;
  if (!tells_plain_trouble() || reports_deed(run.steps[at]) || shows_again(run, at) || outcomes_.undone(run, at) < kLikely) return false;
  claims_.index_told();
  return std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), [](const Claim& claim) { return !claim.finding; }) ||
         tells_of_undone(run.steps[at]);
}

void PassedOver::find_untold_trouble(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr double kTrouble = 0.2, kUndone = 0.65, kPassed = 0.65;
  const auto step = rules_.soft_failures ? last_trouble(run) : kNoStep;
  if (step == kNoStep) return;
  if (!message.found || message.place < step || scene_.reading.asks() || scene_.reading.admits() || scene_.reading.hands_over()) return;
  if (has(scene_.reading.cues, kCueNothingFound)) return;
  const bool open = scene_.reading.denies || has(scene_.reading.cues, kCueTrouble | kCuePlan | kCueOffer | kCueSimulated);
  if (!open && !scene_.recovery.meaning(run.steps[step].name).reads && reports_undone(run, step)) {
    const FiringLine::Doubt doubt{"undone_report", step, "this call's output says that what the final message reports was not done"};
    if (!rules_.line.fires(kUndone, doubt, verdict)) return;
    scene_.flag_only = false;
    verdict.fire(outcomes_.finding(run, {step, Failure::kSoft, false}, message), kUndone);
    return;
  }
  const double sure = passes_over_trouble(run, step) || (!open && ends_undone(run, step)) ? kPassed : kTrouble;
  const FiringLine::Doubt doubt{"untold_trouble", step, "this call's output mentions a problem, and the final message does not"};
  if (!rules_.line.fires(sure, doubt, verdict)) return;
  scene_.flag_only = false;
  verdict.fire(outcomes_.finding(run, {step, Failure::kSoft, false}, message), sure);
}

}  // namespace runwarden::plugins
