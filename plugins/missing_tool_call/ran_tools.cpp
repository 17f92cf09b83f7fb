#include "missing_tool_call/ran_tools.h"

#include <algorithm>
#include <array>
#include <vector>

#include "common/json_scan.h"
#include "common/sql.h"
#include "common/tools.h"
#include "common/words.h"
#include "evidence/commands.h"
#include "evidence/expression.h"
#include "evidence/given_records.h"
#include "evidence/outcome_words.h"
#include "missing_tool_call/told_deeds.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kLongestRecord = 2000;  // bytes of arguments or an answer whose members are read one by one

/// True for the arguments of a call that only works something out: "26400/360*6".
bool only_calculates(std::string_view input) {
  std::vector<double> results;
  const bool words = std::any_of(input.begin(), input.end(), [](char c) { return is_letter(c); });
  if (words || input.empty()) return false;
  work_out(input, results);
  return !results.empty();
}

}  // namespace

void RanTools::collect(const RunView& run) {
  scene_.ran.clear(rules_.lexicon.last_group(), run.steps.size());
  scene_.gives_records.clear();
  scene_.things_read = false;
  scene_.done_by_user.clear();
  scene_.given_by_user.clear();
  scene_.named_by_user.clear();
  scene_.user_read = scene_.given_read = false;
  scene_.tools.clear();
  std::array<const ToolMeaning*, 64> taken{};  // a small cache: most runs call few tools many times
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool) continue;
    const auto& tool = scene_.tools.meaning(step.name);
    scene_.ran.any = true;
    if (step.outcome != Outcome::kFailed) add_told_deeds(step.output);
    if (step.outcome != Outcome::kFailed) add_flagged_deeds(step.output);
    scene_.ran.may_change[i] = may_change(run, tool, step) ? 1 : 0;
    if (scene_.ran.may_change[i] == 0 && tool.may_look) {
      for (const auto group : tool.groups) scene_.ran.groups[group] = 1;
    }
    if (scene_.ran.may_change[i] != 0) add_ordered_deeds(step.input);
    if (scene_.ran.may_change[i] != 0 && step.outcome != Outcome::kFailed) add_member_deeds(step.output);
    auto& place = taken[reinterpret_cast<std::uintptr_t>(&tool) / sizeof(ToolMeaning) % taken.size()];
    if (place == &tool || scene_.ran.may_change[i] == 0) continue;
    place = &tool;
    scene_.ran.any_write = true;
    scene_.ran.any_purpose |= tool.any_purpose;
    for (const auto group : tool.groups) scene_.ran.groups[group] = 1;
    add_named_action(step.name);
    for (const auto noun : tool.nouns) scene_.ran.nouns.insert(noun);
  }
  if (!scene_.ran.any_write) return;
  std::vector<std::uint16_t> done;
  for (const auto& entry : rules_.done_by) {
    if (std::any_of(entry.tools.begin(), entry.tools.end(), [&](auto tool) { return scene_.ran.groups[tool] != 0; }))
      done.push_back(entry.group);
  }
  for (const auto group : done) scene_.ran.groups[group] = 1;
}

/// "The invoice has been sent to your inbox.": a tool that says in a sentence that it did something did it, whatever its name.
void RanTools::add_told_deeds(std::string_view output) {
  constexpr std::size_t kLongest = 200;
  output = trim(output);
  if (output.empty() || output.size() > kLongest || looks_like_json(output) || !scene_.action_words.finds(output)) return;
  read(output, rules_.lexicon, scene_.reading);
  if (scene_.reading.denies || scene_.reading.admits()) return;
  for (const auto& claim : scene_.reading.claims) {
    if (!claim.finding && claim.verb != kNoVerb && tells_deed(scene_.reading, claim))
      scene_.ran.groups[rules_.lexicon.verb(claim.verb).group] = 1;
  }
  for (const auto& sentence : scene_.reading.sentences) {
    if (const auto verb = told_of_user(sentence); verb != kNoVerb) scene_.ran.groups[rules_.lexicon.verb(verb).group] = 1;
  }
}

/// {"supplier_notified": true}: a flag reports an additional action.
void RanTools::add_flagged_deeds(std::string_view output) {
  constexpr std::string_view kYes = "true";
  output = trim(output);
  if (output.empty() || output[0] != '{' || output.size() > kLongestRecord || output.find(kYes) == std::string_view::npos) return;
  JsonScanner cursor(output);
  std::string word;
  std::string_view key;
  for (auto token = cursor.next(); token != JsonScanner::Token::kEnd && token != JsonScanner::Token::kBad; token = cursor.next()) {
    if (token == JsonScanner::Token::kKey) key = cursor.text();
    if (token != JsonScanner::Token::kTrue) continue;
    fold(last_word_of(key), word);
    const auto* entry = rules_.lexicon.find(word);
    if (is_participle(entry)) scene_.ran.groups[rules_.lexicon.verb(entry->verb).group] = 1;
  }
}

/// "apply tf.plan": what a program is told first.
void RanTools::add_commanded_deed(std::string_view input) {
  const auto* entry = rules_.lexicon.find(input.substr(0, input.find_first_of(" \t\n")));
  if (entry != nullptr && entry->verb != kNoVerb && (entry->forms & kFormBase) != 0)
    scene_.ran.groups[rules_.lexicon.verb(entry->verb).group] = 1;
}

/// {"notify_depot": true}: an argument may request an additional action.
void RanTools::add_ordered_deeds(std::string_view input) {
  input = trim(input);
  if (input.empty() || input.size() > kLongestRecord) return;
  if (input[0] != '{') return add_commanded_deed(input);
  JsonScanner cursor(input);
  std::string_view key;
  for (auto token = cursor.next(); token != JsonScanner::Token::kEnd && token != JsonScanner::Token::kBad; token = cursor.next()) {
    if (token == JsonScanner::Token::kKey) key = cursor.text();
    const bool set = token == JsonScanner::Token::kTrue || (token == JsonScanner::Token::kString && !cursor.text().empty());
    if (!set || key.empty()) continue;
    std::vector<std::string> words;
    split_tool_name(key, words);
    const auto* entry = words.empty() ? nullptr : rules_.lexicon.find(words[0]);
    key = {};
    if (entry == nullptr || entry->verb == kNoVerb || (entry->forms & kFormBase) == 0) continue;
    // "contact_id": a thing. "cancel_policy": "flexible" orders nothing.
    const bool thing = scene_.text_work.is_noun(words[0], kAnyLanguage) || scene_.requests.is_action_noun(*entry);
    const auto group = rules_.lexicon.verb(entry->verb).group;
    if (token == JsonScanner::Token::kTrue || (words.size() > 1 && !thing && group == rules_.send_group)) scene_.ran.groups[group] = 1;
  }
}

/// {"events": ["DEPOT_ALERTED"]}, {"notice": "sent to GLA"}: what the members of an answer tell as done.
void RanTools::add_member_deeds(std::string_view output) {
  output = trim(output);
  if (output.empty() || output[0] != '{' || output.size() > kLongestRecord || !scene_.action_words.finds(output)) return;
  constexpr std::size_t kLongest = 80, kMost = 8;  // bytes of a member, and members read
  JsonScanner cursor(output);
  std::string text;
  std::size_t told = 0;
  for (auto token = cursor.next(); token != JsonScanner::Token::kEnd && token != JsonScanner::Token::kBad; token = cursor.next()) {
    if (token != JsonScanner::Token::kString || cursor.text().size() > kLongest ||
        cursor.text().find_first_of(" _") == std::string_view::npos)
      continue;
    if (told++ == kMost) return;
    text = cursor.text();
    std::replace(text.begin(), text.end(), '_', ' ');
    add_told_deeds(text);
  }
}

/// The action that a tool reports to have done: "You have successfully accepted the invitation."
std::uint16_t RanTools::told_of_user(const Sentence& sentence) const {
  auto i = sentence.begin;
  if (sentence.question || !has(scene_.reading.words[i].cues, kCueAddressee)) return kNoVerb;
  bool done = false;
  for (++i; i < sentence.end && has(scene_.reading.words[i].cues, kCueAuxiliary | kCueAdverb); ++i)
    done |= has(scene_.reading.words[i].cues, kCueAuxiliary);
  const auto* entry = i < sentence.end ? scene_.reading.words[i].entry : nullptr;
  return done && entry != nullptr && (entry->forms & kFormDone) != 0 ? entry->verb : kNoVerb;
}

/// "start_booking" books, "make_payment" pays; "cancel_reservation" reserves nothing.
void RanTools::add_named_action(std::string_view tool) {
  std::vector<std::string> words;
  split_tool_name(base_name(tool), words);
  bool light = false;
  for (const auto& word : words) {
    const auto* entry = rules_.lexicon.find(word);
    if (entry == nullptr || entry->verb == kNoVerb) continue;
    if ((entry->forms & kFormBase) != 0) {
      light = scene_.requests.light(entry->verb);
    } else if (light) {
      scene_.ran.groups[rules_.lexicon.verb(entry->verb).group] = 1;
    }
  }
}

bool RanTools::could_have(const Claim& claim) const {
  const auto group = rules_.lexicon.verb(claim.verb).group;
  if (scene_.ran.groups[group]) return true;
  const auto& sentence = scene_.reading.sentences[claim.sentence];
  constexpr std::uint32_t kObjectReach = 6;
  const auto end = std::min(sentence.end, claim.word + 1 + kObjectReach);
  for (auto i = claim.word + 1; i < end; ++i) {
    if (scene_.reading.words[i].before >= Break::kClause) break;
    if (!scene_.ran.nouns.contains(hash_noun(scene_.reading.words[i].text))) continue;
    // "Sent the order confirmation": only the last noun names the thing sent.
    const auto next = i + 1;
    const bool modifies = group == rules_.send_group && next < sentence.end && scene_.reading.words[next].before == Break::kNone &&
                          !has(scene_.reading.words[next].cues, kCuePreposition | kCueConjunction | kCueAdverb | kCueAuxiliary);
    if (!modifies) return true;
  }
  if (group == rules_.send_group || !scene_.ran.any_write) return false;
  bool joined = false;
  for (auto i = claim.word; i > sentence.begin && claim.word - i < kObjectReach && scene_.reading.words[i].before < Break::kClause; --i) {
    const auto& subject = scene_.reading.words[i - 1];
    if (has(subject.cues, kCueSelf)) break;
    // "I've upgraded your seat and added a meal", "it is cancelled, and two were ordered": a deed of its own.
    joined |= has(subject.cues, kCueConjunction);
    const auto* deed = claim_before(scene_.reading, sentence, i);
    if (deed != nullptr && deed->word == i - 1 && deed->verb != kNoVerb && (joined || !deed->state)) break;
    const bool names_verb = subject.entry != nullptr && subject.entry->verb != kNoVerb;
    if (names_verb && scene_.ran.groups[rules_.lexicon.verb(subject.entry->verb).group]) return true;
  }
  return false;
}

bool RanTools::nothing_ran_between(const RunView& run, std::size_t turn, std::size_t message) {
  if (turn == kNoStep || message == kNoStep || turn >= message) return false;
  return std::none_of(run.steps.begin() + static_cast<std::ptrdiff_t>(turn), run.steps.begin() + static_cast<std::ptrdiff_t>(message),
                      [](const StepView& step) { return step.kind == Kind::kTool; });
}

/// True when every call of a tool that did not fail, whose name says nothing about what it does, returned records. Computed once per tool
/// and run.
bool RanTools::only_gives_records(const RunView& run, const ToolMeaning& tool, std::string_view name) {
  const auto [known, fresh] = scene_.gives_records.try_emplace(&tool, true);
  if (!fresh) return known->second;
  bool gave = false;
  const bool only = std::all_of(run.steps.begin(), run.steps.end(), [&](const StepView& step) {
    if (step.kind != Kind::kTool || step.name != name) return true;
    run.pace(step.input.size() + step.output.size());
    if (carries_text(step, rules_.tool_words) || orders_change(step, rules_.tool_words, rules_.lexicon)) return false;
    if (has_statement(step.input, Statement::kChangeRows) || has_statement(step.input, Statement::kOther)) return false;
    if (step.outcome == Outcome::kFailed) return true;
    gave |= gives_records(step, rules_.answer_members, rules_.tool_words, rules_.lexicon);
    return gave;
  });
  return known->second = only && gave;
}

bool RanTools::did_it(const Claim& claim) const {
  return claim.verb != kNoVerb && scene_.ran.groups[rules_.lexicon.verb(claim.verb).group] != 0;
}

bool RanTools::asked_with_done(const Request& request) const {
  return std::any_of(scene_.requests.found().begin(), scene_.requests.found().end(), [&](const Request& beside) {
    return beside.step == request.step && scene_.ran.groups[rules_.lexicon.verb(beside.verb).group] != 0;
  });
}

bool RanTools::may_change(const RunView& run, const ToolMeaning& tool, const StepView& call) {
  if (changes_by_method(call.name)) return true;
  if (is_program(call.name, rules_.tool_words.calls)) return !only_look(call, rules_.tool_words.calls);
  const bool in_doubt = tool.may_look || (tool.unknown && !tool.meaningless);
  if (tool.reads && tool.queries && has_statement(call.input, Statement::kChangeRows)) return true;
  if (tool.reads || (in_doubt && only_gives_records(run, tool, call.name))) return false;
  if ((in_doubt || tool.any_purpose) && (only_calculates(call.input) || only_queries(call.input))) return false;
  return !tool.runs_anything() || !(only_look(call, rules_.tool_words.calls) || only_queries(call.input));
}

}  // namespace runwarden::plugins
