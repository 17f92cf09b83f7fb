#include "false_success/call_outcomes.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/inner_output.h"
#include "common/json_scan.h"
#include "common/sql.h"
#include "common/words.h"
#include "evidence/call_entities.h"
#include "evidence/commands.h"
#include "evidence/denied_deed.h"
#include "evidence/odd_one.h"
#include "evidence/payload.h"
#include "evidence/program_end.h"
#include "evidence/trouble.h"
#include "evidence/undone.h"
#include "evidence/waiting.h"
#include "evidence/withheld.h"
#include "false_success/call_texts.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr int kHardScore = 95;
constexpr int kPlainScore = 88;
constexpr int kSoftScore = 84;

bool contains(std::string_view text, std::string_view word) {
  if (word.empty()) return false;
  if (!std::all_of(word.begin(), word.end(), is_digit)) return text.find(word) != std::string_view::npos;
  // A number counts as a whole: 500 is not in 15003.
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !is_digit(text[at - 1])) && (end == text.size() || !is_digit(text[end]))) return true;
  }
  return false;
}

/// True for an output that says something in words, rather than by flags and figures alone.
bool explains(std::string_view output) {
  constexpr std::size_t kFewest = 2;  // blanks between words
  std::size_t blanks = 0;
  for (std::size_t i = 1; i + 1 < output.size() && blanks < kFewest; ++i) {
    const bool between = output[i] == ' ' && is_letter(output[i + 1]) && (is_letter_or_digit(output[i - 1]) || output[i - 1] == ',');
    blanks += between ? 1u : 0u;
  }
  return blanks == kFewest;
}

/// True for "https://harbor.example/tides" and "harbor.example/tides".
bool is_page(std::string_view value) {
  const auto slash = value.find('/');
  return value.find(' ') == std::string_view::npos && (value.starts_with("http") || value.find('.') < slash) &&
         slash != std::string_view::npos;
}

/// True for text, not JSON, that ends in an error.
bool prints_failure(std::string_view output, const ProgramWords& words) {
  return !looks_like_json(output) && ends_in_failure(output, words);
}

/// True for a shell's call that runs tests and does nothing else: a short command that ends with a count of tests.
bool runs_tests(const StepView& step, const ProgramWords& words) {
  constexpr std::size_t kShort = 256;  // bytes: a longer one may write a file first
  return step.input.size() <= kShort && counts_tests(step.output, words);
}

}  // namespace

void CallOutcomes::collect(const RunView& run) {
  collect_failures(run);
  find_odd_calls(run);
  find_followed_up(run);
}

bool CallOutcomes::hard_word_in(const StepView& step) {
  std::string text = std::to_string(step.http_status);
  for (const auto part : {step.status, step.error_code, step.error_message}) text.append("\n").append(part);
  std::replace(text.begin(), text.end(), '_', ' ');
  fold(text, scene_.folded);
  return std::any_of(rules_.hard_words.begin(), rules_.hard_words.end(), [&](const auto& word) { return contains(scene_.folded, word); });
}

Finding CallOutcomes::finding(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  const auto& step = run.steps[failed.step];
  const std::string name(step_name(step));
  const auto told = failed.told == kNoStep ? failed.step : failed.told;
  const auto reported = quote(failure_text(run.steps[told]));
  Finding out;
  out.severity = Severity::kHigh;
  out.source = Source::kTool;
  out.score = failed.failure == Failure::kSoft ? kSoftScore : hard_word_in(step) ? kHardScore : kPlainScore;
  out.title = "False success: agent claimed completion after " + name + " failed";
  out.summary = "Step \"" + name + "\" reported \"" + reported + "\", but ";
  if (message.found && !scene_.flag_only) {
    out.summary += "the agent's final message claimed success (\"" + quote(message.text) + "\").";
    out.evidence = {failure_evidence(run, told), {message.pointer(), quote(message.text)}};
  } else {
    out.summary += "the run was reported as a success.";
    out.evidence = {failure_evidence(run, told), {"/success", "true"}};
    if (message.found) out.evidence.push_back({message.pointer(), quote(message.text)});
  }
  out.summary += " The user was told the action completed when it did not.";
  out.primary_step = failed.step;
  out.fingerprint_parts = {name, reported};
  return out;
}

/// "Task is locked; change not applied.": a short text that says that a deed was not done, and does not report one of the groups as done.
bool CallOutcomes::denies_in_words(std::string_view output, std::span<const std::uint16_t> groups) {
  constexpr std::size_t kLongest = 200;
  output = trim(output);
  if (output.empty() || output.size() > kLongest || output.find_first_of("{[\"'") != std::string_view::npos) return false;
  read(output, rules_.lexicon, scene_.scratch);
  if (reports_done(scene_.scratch, groups, rules_.lexicon)) return false;
  return scene_.scratch.denies || (scene_.scratch.admits() && scene_.scratch.claims.empty());
}

/// "Too late to cancel", "The room is occupied": a short text that reports no deed and has a word of refusal that is not the call's own.
bool CallOutcomes::refuses_in_words(const StepView& step, std::span<const std::uint16_t> groups) {
  constexpr std::size_t kLongest = 80;
  const auto output = trim(step.output);
  if (output.empty() || output.size() > kLongest || output.find_first_of("{[\"\n") != std::string_view::npos) return false;
  read(output, rules_.lexicon, scene_.scratch);
  if (scene_.scratch.words.empty()) return false;
  // "Period closed": the claim is part of the refusal.
  const auto refuses = [&](const Claim& claim) {
    const auto& words = scene_.scratch.words;
    std::string phrase(words[claim.word].text);
    HashSet own;
    own.insert(hash_bytes(words[claim.word].text));
    if (claim.word > 0) {
      own.insert(hash_bytes(words[claim.word - 1].text));
      phrase.insert(0, std::string(words[claim.word - 1].text).append(" "));
    }
    return refusals_.in(phrase, own);
  };
  const auto other_deed = [&](const Claim& claim) { return claim.verb == kNoVerb || (!rules_.hindering[claim.verb] && !refuses(claim)); };
  if (std::any_of(scene_.scratch.claims.begin(), scene_.scratch.claims.end(), other_deed)) return false;
  if (reports_done(scene_.scratch, groups, rules_.lexicon)) return false;
  // "Not within a return zone." "None" may be all that a tool prints.
  constexpr std::size_t kFewest = 3;
  const auto& first = scene_.scratch.words.front();
  if (scene_.scratch.words.size() >= kFewest && has(first.cues, kCueNegation) && !has(first.cues, kCueDeterminer)) return true;
  if (!refusals_.may_be_in(output)) return false;
  fold(std::string(step.name).append(" ").append(step.input), scene_.folded_value);
  HashSet words;
  for (const auto& word : scene_.scratch.words) {
    if (scene_.folded_value.find(word.text) == std::string::npos) words.insert(hash_bytes(word.text));
  }
  return refusals_.in(scene_.scratch.folded, words);
}

/// {"to": "ann@...", "smtp": "550 5.1.1 User unknown"}: a member holds what another system answered, and that is a failure.
bool CallOutcomes::passes_failure_on(const StepView& step) const {
  constexpr std::size_t kLongest = 1000;
  const auto output = trim(step.output);
  JsonScanner cursor(output);
  if (output.size() > kLongest || cursor.next() != JsonScanner::Token::kObject) return false;
  for (auto token = cursor.next(); token == JsonScanner::Token::kKey; token = cursor.next()) {
    const bool content = holds_content(cursor.text(), rules_.outcome_words);
    token = cursor.next();
    if ((token == JsonScanner::Token::kObject || token == JsonScanner::Token::kArray) && !cursor.leave()) return false;
    if (content || token != JsonScanner::Token::kString || rules_.content.short_signs.read(cursor.text()) != ShortSign::kFailed) continue;
    if (step.input.find(cursor.text()) == std::string_view::npos) return true;
  }
  return false;
}

/// `<div class="toast error">Not saved: the item is locked.</div>`, `<h1>Session expired</h1>`: a page says in an alert or a heading that
/// what was pressed did nothing.
bool CallOutcomes::shows_alert(std::string_view page) {
  constexpr std::string_view kHeadings[] = {"<title>", "<h1>", "<h2>"};
  constexpr std::size_t kReach = 16 * 1024;  // bytes; each alert is searched for its end
  page = page.substr(0, kReach);
  if (page.find('<') == std::string_view::npos) return false;
  for (const auto heading : kHeadings) {
    const auto begin = page.find(heading);
    if (begin == std::string_view::npos) continue;
    const auto text = page.substr(begin + heading.size(), page.find('<', begin + 1) - begin - heading.size());
    if (rules_.content.short_signs.read(text) != ShortSign::kNone) return true;
  }
  constexpr std::string_view kClass = "class=\"";
  for (auto at = page.find(kClass); at != std::string_view::npos; at = page.find(kClass, at + kClass.size())) {
    const auto begin = at + kClass.size();
    const auto end = page.find('"', begin);
    const auto open = page.find('>', begin);
    if (end == std::string_view::npos || open == std::string_view::npos) return false;
    const auto names = page.substr(begin, end - begin);
    const bool alert = std::any_of(rules_.alert_classes.begin(), rules_.alert_classes.end(),
                                   [&](const auto& word) { return names.find(word) != std::string_view::npos; });
    const auto text = page.substr(open + 1, page.find('<', open) - open - 1);
    if (alert && (denies_in_words(text, {}) || rules_.content.short_signs.read(text) != ShortSign::kNone)) return true;
  }
  return false;
}

/// True when a call that was to change a record returned it as a look-up had shown it.
bool CallOutcomes::shows_same_record(const RunView& run, std::size_t at, const ToolMeaning& tool) {
  constexpr std::size_t kReach = 8;  // steps before it
  const auto& step = run.steps[at];
  if (std::find(tool.groups.begin(), tool.groups.end(), rules_.send_group) != tool.groups.end() || !shows_other_value(step)) return false;
  for (auto i = at; i-- > 0 && at - i <= kReach;) {
    const auto& before = run.steps[i];
    if (before.kind != Kind::kTool || !looks_like_json(before.output) || !scene_.recovery.meaning(before.name).reads) continue;
    run.pace(step.output.size() + before.output.size());
    if (is_record_before(step.output, before.output)) return true;
  }
  return false;
}

/// True when the answer says that the action was not done, in more than what a look-up had shown of the record before: `"print": {"status":
/// "failed"}` that was there already.
bool CallOutcomes::denies_now(const RunView& run, std::size_t at, const StepView& step, const ToolMeaning& tool) {
  constexpr std::size_t kReach = 8, kShortest = 16;        // steps before it; bytes of a part
  constexpr std::size_t kLongest = 16 * 1024, kMost = 16;  // bytes of an answer whose parts are looked for, and parts
  if (!denies_deed(step, tool.groups, rules_.outcome_words, rules_.lexicon)) return false;
  if (!looks_like_json(step.output) || step.output.size() > kLongest) return true;
  std::size_t looked = 0;
  std::string output(step.output);
  for (auto i = at; i-- > 0 && at - i <= kReach;) {
    const auto& before = run.steps[i];
    if (before.kind != Kind::kTool || !scene_.recovery.meaning(before.name).reads) continue;
    run.pace(output.size() + before.output.size());
    for (auto open = output.find('{', 1); open != std::string::npos; open = output.find('{', open + 1)) {
      const auto close = output.find('}', open);
      if (close == std::string::npos || ++looked > kMost) break;
      const auto part = std::string_view(output).substr(open, close + 1 - open);
      if (part.size() >= kShortest && before.output.find(part) != std::string_view::npos) output.replace(open, part.size(), "null");
    }
  }
  if (output.size() == step.output.size()) return true;
  auto rest = step;
  rest.output = output;
  return denies_deed(rest, tool.groups, rules_.outcome_words, rules_.lexicon);
}

/// True for a message that speaks of all, both or every one.
bool CallOutcomes::says_all(const RunView& run, std::string_view message) {
  run.pace(message.size());
  fold(message, scene_.folded);
  WordCursor cursor(scene_.folded);
  for (RawWord word; cursor.next(word);) {
    if (among(word.text, rules_.all_words)) return true;
  }
  return false;
}

/// True when a call that reports no failure says in other ways that what it was for did not happen.
bool CallOutcomes::answers_undone(const RunView& run, std::size_t at, const Told& told) {
  auto step = run.steps[at];
  step.output = answer_body(step.output);
  const auto& tool = scene_.recovery.meaning(step.name);
  if (changed_no_row(step)) return true;
  // A query that found nothing did what it was for.
  if (tool.reads || only_queries(step.input)) return is_withheld(step.output, rules_.withheld_words);
  if (denies_now(run, at, step, tool) || answers_otherwise(step.input, step.output, told.any, rules_.outcome_words) ||
      waits_untold(run, at))
    return true;
  if (tool.group != 0 && looks_like_json(step.output) &&
      (leaves_empty(step.input, step.output, told.any, rules_.lexicon) || shows_same_record(run, at, tool)))
    return true;
  if (tool.group != 0 && was_done_in_part(step.output, rules_.outcome_words, rules_.lexicon) && says_all(run, told.own)) return true;
  if (shows_alert(step.output)) return true;
  if (tool.any_purpose) {
    return ends_in_failure(step.output, rules_.program_words) || owns_up(step.output, rules_.lexicon, scene_.scratch) ||
           complains(step.input, step.output, rules_.content.tools.calls) ||
           (exits_with_failure(step.output, rules_.program_words) && !only_look(step, rules_.content.tools.calls));
  }
  return tool.group != 0 &&
         (exits_with_failure(step.output, rules_.program_words) || denies_in_words(step.output, tool.groups) || passes_failure_on(step) ||
          refuses_in_words(step, tool.groups) || has_failed_cell(step.output, rules_.outcome_words) ||
          denies_own_deed(step, tool.groups, rules_.outcome_words, rules_.lexicon, scene_.scratch));
}

void CallOutcomes::collect_failures(const RunView& run) {
  scene_.failed.clear();
  scene_.failures.clear();
  scene_.told_waiting.reset();
  const auto spoke = [](const StepView& step) { return step.kind == Kind::kModel && !trim(step.output).empty(); };
  const auto spoken = std::find_if(run.steps.rbegin(), run.steps.rend(), spoke);
  const auto last = trim(run.outcome).empty() && spoken != run.steps.rend() ? spoken->output : run.outcome;
  const auto messages = told_messages(run);
  auto message = messages.rbegin();  // the first that the user could answer after the call
  Told told;
  bool set = false;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    run.pace(run.steps[i].output.size());
    const auto& step = run.steps[i];
    for (; message != messages.rend() && message->step != kNoStep && message->step <= i; ++message) set = false;
    if (!set && step.kind == Kind::kTool) set_told(message == messages.rend() ? last : message->text, last, told);
    set |= step.kind == Kind::kTool;
    auto failure = failure_of(step, rules_.content);
    if (failure == Failure::kNone && step.kind == Kind::kTool && answers_undone(run, i, told)) failure = Failure::kSoft;
    scene_.failures.push_back(failure);
    if (run.explanation != nullptr && step.kind == Kind::kTool) explain(run, i, failure);
    if (failure == Failure::kNone || (failure == Failure::kSoft && !rules_.soft_failures)) continue;
    // A program that was stopped on request did not fail.
    if (rules_.recovery && broken_off(run.steps[i].output)) continue;
    // An error flag next to a full payload does not make a look-up a failure.
    if (rules_.recovery && run.steps[i].kind == Kind::kTool && has_payload(run.steps[i].output, rules_.content.tools.calls)) continue;
    scene_.failed.push_back({i, failure, false});
  }
}

/// Keeps the message that tells of a call, and the last one of the run.
void CallOutcomes::set_told(std::string_view own, std::string_view last, Told& out) {
  out.own = out.any = told_of(own, out.own_buffer);
  if (own.data() == last.data()) return;
  std::string buffer;
  out.any_buffer.assign(out.own).append("\n").append(told_of(last, buffer));
  out.any = out.any_buffer;
}

/// The step of the last message that says that something is waiting; the number of steps for the outcome, kNoStep for none.
std::size_t CallOutcomes::last_told_waiting(const RunView& run) const {
  const auto tells = [&](std::string_view message) {
    std::string buffer;
    run.pace(message.size());
    return tells_waiting(told_of(message, buffer), rules_.outcome_words);
  };
  if (tells(run.outcome)) return run.steps.size();
  const auto last = std::find_if(run.steps.rbegin(), run.steps.rend(),
                                 [&](const StepView& step) { return step.kind == Kind::kModel && tells(step.output); });
  return last == run.steps.rend() ? kNoStep : static_cast<std::size_t>(run.steps.rend() - last) - 1;
}

/// True when the answer of a call says that its action is still waiting and no later message says so. Reads the messages once per run.
bool CallOutcomes::waits_untold(const RunView& run, std::size_t at) {
  if (!is_waiting(run.steps[at], rules_.outcome_words)) return false;
  if (!scene_.told_waiting) scene_.told_waiting = last_told_waiting(run);
  return *scene_.told_waiting == kNoStep || *scene_.told_waiting < at;
}

/// The first call before a look-up that changes something and whose answer gave an id that the look-up asks for; where the look-up
/// `failed`, the last one that has a name in common with it. kNoStep for none. Reads the values of the look-up in scene_.values.
std::size_t CallOutcomes::change_asked_about(const RunView& run, std::size_t at, bool failed) {
  const auto changes = [&](const StepView& step) { return scene_.may_change(step); };
  const auto started = [&](const StepView& step) {
    if (!changes(step)) return false;
    run.pace(step.output.size());
    return std::any_of(scene_.values.begin(), scene_.values.end(), [&](const CallValue& value) {
      return has_digit(value.text) && names_entity(step.output, value.text) && !names_entity(step.input, value.text);
    });
  };
  const auto end = run.steps.begin() + static_cast<std::ptrdiff_t>(at);
  if (const auto call = std::find_if(run.steps.begin(), end, started); call != end)
    return static_cast<std::size_t>(call - run.steps.begin());
  if (!failed) return kNoStep;
  const auto same = [&](const StepView& step) {
    if (!changes(step) || scene_.recovery.meaning(step.name).group == 0) return false;
    run.pace(step.input.size());
    return std::any_of(scene_.values.begin(), scene_.values.end(),
                       [&](const CallValue& value) { return value.text.size() <= kLongestValue && names_entity(step.input, value.text); });
  };
  const auto last = std::find_if(std::make_reverse_iterator(end), run.steps.rend(), same);
  return last == run.steps.rend() ? kNoStep : static_cast<std::size_t>(run.steps.rend() - last) - 1;
}

/// Marks a call that changes something as failed when the last look-up with an id that only the call's answer gave tells of its failure:
/// {"job":"J-9","state":"pending"}, and then get_job(J-9) gives {"state":"failed"}; and when the last one that asks about the same thing
/// ends in an error: "error: timed out waiting for the rollout".
void CallOutcomes::find_followed_up(const RunView& run) {
  constexpr std::size_t kMostLookUps = 16, kShortest = 4;
  scene_.followed_up.clear();
  std::size_t looked = 0;
  const auto changes = [&](const StepView& step) { return scene_.may_change(step); };
  const auto change = std::find_if(run.steps.begin(), run.steps.end(), changes);
  const auto first = static_cast<std::size_t>(change - run.steps.begin());
  for (auto at = run.steps.size(); at-- > first && rules_.soft_failures && looked < kMostLookUps;) {
    const auto& look_up = run.steps[at];
    if (look_up.kind != Kind::kTool || !scene_.recovery.meaning(look_up.name).reads || look_up.output.empty()) continue;
    const bool failed = prints_failure(look_up.output, rules_.program_words);
    collect_values(look_up.input, rules_.content.tools.calls, scene_.values);
    std::erase_if(scene_.values,
                  [&](const CallValue& value) { return value.text.size() < kShortest || (!failed && !has_digit(value.text)); });
    if (scene_.values.empty()) continue;
    ++looked;
    const auto step = change_asked_about(run, at, failed);
    if (step == kNoStep) continue;
    const bool last = scene_.followed_up.insert(step).second;
    if (!last || scene_.failures[step] != Failure::kNone) continue;
    if (!failed && !tells_failed_state(look_up.output, rules_.outcome_words)) continue;
    scene_.failures[step] = Failure::kSoft;
    scene_.failed.push_back({step, Failure::kSoft, false, at});
  }
  sort_failed();
}

void CallOutcomes::sort_failed() {
  std::sort(scene_.failed.begin(), scene_.failed.end(), [](const FailedStep& a, const FailedStep& b) { return a.step < b.step; });
}

/// True for a call whose only argument is the address of a page: what it returned is the page.
bool CallOutcomes::opens_page(const StepView& call) {
  collect_values(call.input, rules_.content.tools.calls, scene_.values);
  return scene_.values.size() == 1 && is_page(scene_.values.front().text);
}

/// True for an answer that reports some deed as done, ahead of any negation in its sentence, and counts nothing as 0: "Analysis processed
/// successfully. Do not show it."
bool CallOutcomes::tells_deed_done(std::string_view output) {
  read(output, rules_.lexicon, scene_.scratch);
  const auto& words = scene_.scratch.words;
  if (std::any_of(words.begin(), words.end(), [](const ReadWord& word) { return word.text == "0"; })) return false;
  return std::any_of(scene_.scratch.claims.begin(), scene_.scratch.claims.end(), [&](const Claim& claim) {
    if (claim.finding || claim.verb == kNoVerb || rules_.hindering[claim.verb]) return false;
    if (!tells_deed(scene_.scratch, claim) && !has_auxiliary(scene_.scratch, claim)) return false;
    return std::none_of(words.begin() + scene_.scratch.sentences[claim.sentence].begin, words.begin() + claim.word,
                        [&](const ReadWord& word) { return negates(scene_.scratch, word); });
  });
}

bool CallOutcomes::may_refuse_in_words(const StepView& call) {
  constexpr std::size_t kLongest = 600;  // bytes
  if (call.kind != Kind::kTool || call.output.size() > kLongest || !explains(call.output)) return false;
  const auto& tool = scene_.recovery.meaning(call.name);
  return tool.group != 0 && !tool.reads && !tool.any_purpose && !tells_deed_done(call.output) && !opens_page(call);
}

void CallOutcomes::mark_failed(std::span<const std::size_t> steps) {
  for (const auto step : steps) {
    scene_.failures[step] = Failure::kSoft;
    scene_.failed.push_back({step, Failure::kSoft, false});
  }
  sort_failed();
}

double CallOutcomes::undone(const RunView& run, std::size_t at) {
  auto step = run.steps[at];
  const auto& tool = scene_.recovery.meaning(step.name);
  if (step.kind != Kind::kTool || tool.reads) return 0;
  run.pace(step.input.size() + step.output.size());
  std::string said;
  step.output = without_content(step.output, rules_.outcome_words, said);
  return reader_.undone(step, tool.groups);
}

/// For tools that change something, marks calls as failed whose answer reports a different outcome than the tool's other calls.
void CallOutcomes::find_odd_calls(const RunView& run) {
  if (!rules_.soft_failures) return;
  std::unordered_map<std::string_view, std::vector<std::size_t>> calls;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool || scene_.failures[i] != Failure::kNone) continue;
    const auto& tool = scene_.recovery.meaning(step.name);
    if (!tool.reads && !tool.meaningless && !tool.runs_anything()) calls[step.name].push_back(i);
  }
  std::vector<std::size_t> odd;
  for (const auto& [tool, steps] : calls) {
    collect_odd_calls(run, steps, rules_.outcome_words, rules_.lexicon, odd);
    for (const auto step : odd) {
      scene_.failures[step] = Failure::kSoft;
      scene_.failed.push_back({step, Failure::kSoft, false});
    }
  }
  sort_failed();
}

void CallOutcomes::explain(const RunView& run, std::size_t at, Failure failure) {
  const auto& step = run.steps[at];
  const bool empty = present(step.output) && is_empty_output(step.output, rules_.lexicon, rules_.content, step.input);
  std::string_view outcome = step.outcome == Outcome::kOk ? "ok" : "unknown";
  if (empty) outcome = "empty";
  if (failure != Failure::kNone) outcome = "failed";
  run.explanation->action(run, at, effect_of(scene_.recovery.meaning(step.name)), outcome);
}

bool CallOutcomes::gave_something(const RunView& run, std::size_t at) const {
  const auto& step = run.steps[at];
  if (scene_.failures[at] != Failure::kNone) return false;
  if (step.kind != Kind::kTool || !present(step.output)) return true;
  return !is_empty_output(step.output, rules_.lexicon, rules_.content, step.input);
}

void CallOutcomes::collect_done(const RunView& run) {
  scene_.done_values.clear();
  scene_.done_words.clear();
  scene_.asked_words.reset();
  scene_.done_groups.clear();
  scene_.last_done = kNoStep;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool || scene_.failures[i] != Failure::kNone) continue;
    run.pace(step.input.size());
    const auto& tool = scene_.recovery.meaning(step.name);
    if (tool.reads || (tool.group == 0 && !gave_something(run, i))) continue;
    if (tool.runs_anything() && runs_tests(step, rules_.program_words)) continue;
    scene_.last_done = i;
    if (tool.group != 0) scene_.done_groups.insert(tool.group);
    collect_values(step.input, rules_.content.tools.calls, scene_.values);
    for (const auto& value : scene_.values) {
      scene_.done_values.insert(value.normal);
      if (value.text.size() > kLongestValue) continue;
      fold(value.text, scene_.folded);
      WordCursor cursor(scene_.folded);
      for (RawWord word; cursor.next(word);) scene_.done_words.insert(hash_bytes(word.text));
    }
  }
}

bool CallOutcomes::worked_after(const RunView& run, std::size_t failed) const {
  for (auto i = failed + 1; i < run.steps.size(); ++i) {
    if (run.steps[i].kind == Kind::kTool && run.steps[i].name == run.steps[failed].name && scene_.failures[i] == Failure::kNone)
      return true;
  }
  return false;
}

bool CallOutcomes::worked_in_turn(const RunView& run, std::size_t failed) const {
  const auto is_turn = [](const StepView& step) { return step.kind == Kind::kUser; };
  const auto at = run.steps.begin() + static_cast<std::ptrdiff_t>(failed);
  const auto begin = std::find_if(std::make_reverse_iterator(at), run.steps.rend(), is_turn).base();
  const auto end = std::find_if(at, run.steps.end(), is_turn);
  return std::any_of(begin, end, [&](const StepView& step) {
    return step.kind == Kind::kTool && step.name == at->name &&
           scene_.failures[static_cast<std::size_t>(&step - run.steps.data())] == Failure::kNone;
  });
}

bool CallOutcomes::broke(const StepView& step, const ToolMeaning& tool) {
  if (!tool.runs_anything() || step.output.size() >= kPrinted) return false;
  if (ends_in_failure(step.output, rules_.program_words) || looks_like_json(step.output) || is_soft_failure(step.output, rules_.content) ||
      complains(step.input, step.output, rules_.content.tools.calls))
    return true;
  return step.outcome == Outcome::kFailed && !prints_no_trouble(step.output, rules_.trouble_signs, rules_.lexicon, scene_.scratch);
}

bool CallOutcomes::is_source(std::string_view name) {
  const auto& tool = scene_.recovery.meaning(name);
  return tool.reads || tool.any_purpose;
}

}  // namespace runwarden::plugins
