#include "schema_ghost/tool_gaps.h"

#include <algorithm>
#include <unordered_map>

#include "common/findings.h"
#include "common/json_scan.h"
#include "common/tools.h"
#include "common/words.h"
#include "evidence/payload.h"
#include "evidence/stated_values.h"
#include "evidence/unrecorded.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kCallsThatTeach = 2;
constexpr std::size_t kPrinted = 1000;  // bytes of output, more than an error alone takes
constexpr std::size_t kCutTail = 2000;  // bytes of a value that may have been cut

/// True when a recorded output is truncated: JSON without its end, or a text that ends with one of the marks.
bool is_cut(std::string_view output, const std::vector<std::string>& marks) {
  output = trim(output);
  if (std::any_of(marks.begin(), marks.end(), [&](const auto& mark) { return output.ends_with(mark); })) return true;
  if (!looks_like_json(output)) return false;
  JsonScanner cursor(output);
  auto token = cursor.next();
  while (token != JsonScanner::Token::kBad && token != JsonScanner::Token::kEnd) token = cursor.next();
  return token == JsonScanner::Token::kBad && cursor.offset() + kCutTail >= output.size();
}

/// True for a member that a tool is named after, by all its words: "vat_number" of "vat_number_lookup".
bool is_named_after(const ToolMeaning& tool, std::string_view member) {
  std::size_t at = 0;
  auto word = next_tool_word(member, at);
  if (word.empty()) return false;
  std::string folded;
  for (; !word.empty(); word = next_tool_word(member, at)) {
    fold(word, folded);
    if (std::find(tool.nouns.begin(), tool.nouns.end(), hash_noun(folded)) == tool.nouns.end()) return false;
  }
  return true;
}

/// True when the list that a tool is named after is empty, or what a look-up is named after null, whatever describes it:
/// {"salidas": [], "servicio": "DOM"} of "gtfs_salidas". Reads the first level of the object.
bool lacks_what_it_is_for(std::string_view output, const ToolMeaning& tool) {
  using Token = JsonScanner::Token;
  JsonScanner cursor(trim(output));
  if (cursor.next() != Token::kObject) return false;
  bool none = false;
  for (auto token = cursor.next(); token == Token::kKey; token = cursor.next()) {
    const auto member = cursor.text();
    token = cursor.next();
    if (token == Token::kNull) none |= tool.reads && is_named_after(tool, member);
    if (token != Token::kObject && token != Token::kArray) continue;
    const auto begin = cursor.offset();
    if (!cursor.leave()) return false;
    const bool empty = trim(trim(output).substr(begin, cursor.offset() - begin - 1)).empty();
    if (!empty) return false;
    none |= token == Token::kArray && is_named_after(tool, member);
  }
  return none;
}

}  // namespace

bool ToolGaps::gave_nothing(const StepView& step) const {
  ShortSign sign;
  const auto holds = [&](std::string_view sign_of_nothing) { return step.output.find(sign_of_nothing) != std::string_view::npos; };
  return failure_of(step, rules_.content, sign) != Failure::kNone || sign == ShortSign::kRefused || sign == ShortSign::kNotThere ||
         is_empty_output(step.output, rules_.lexicon, rules_.content, step.input) || holds_nothing(step.output) ||
         ((holds("[]") || holds("null")) && lacks_what_it_is_for(step.output, scene_.tools.meaning(step.name)));
}

bool ToolGaps::disowned(const RunView& run, std::size_t step) {
  constexpr std::size_t kLongest = 200;  // bytes; a longer output may have given a part of it
  if (run.steps[step].output.size() > kLongest || !scene_.tools.meaning(run.steps[step].name).reads) return false;
  const auto next = step + 1;
  if (next == run.steps.size()) return scene_.disclaimers.draws_on_own_knowledge(run.outcome);
  return run.steps[next].kind == Kind::kModel && scene_.disclaimers.draws_on_own_knowledge(run.steps[next].output);
}

bool ToolGaps::record_is_cut(const RunView& run, std::size_t step) {
  for (; scene_.cut_upto < step && !scene_.record_cut; ++scene_.cut_upto) {
    run.pace(run.steps[scene_.cut_upto].output.size());
    const auto& tool = run.steps[scene_.cut_upto];
    // "[error: no such berth]" is not a truncated list.
    const bool nothing = scene_.hollow[scene_.cut_upto] && tool.output.size() < kPrinted;
    scene_.record_cut = tool.kind == Kind::kTool && !nothing && is_cut(tool.output, rules_.cut_marks);
  }
  return scene_.record_cut;
}

bool ToolGaps::may_be_cut_off(const RunView& run, std::size_t step, std::string_view value) {
  if (!record_is_cut(run, step)) return false;
  const auto prefix = value.substr(0, value.find_first_of("0123456789"));
  return std::any_of(run.steps.begin(), run.steps.begin() + static_cast<std::ptrdiff_t>(std::min(step, run.steps.size())),
                     [&](const StepView& before) {
                       if (before.kind != Kind::kTool) return false;
                       run.pace(before.output.size());
                       return is_cut(before.output, rules_.cut_marks) && before.output.find(prefix) != std::string_view::npos;
                     });
}

bool ToolGaps::picture_shown(const RunView& run, std::size_t step) {
  for (; scene_.pictures_upto < std::min(step, run.steps.size()) && !scene_.picture_shown; ++scene_.pictures_upto) {
    const auto& tool = run.steps[scene_.pictures_upto];
    run.pace(tool.input.size());
    scene_.picture_shown = tool.kind == Kind::kTool && shows_picture(tool, rules_.content.tools.calls);
  }
  return scene_.picture_shown;
}

bool ToolGaps::silent_by_design(const StepView& step) {
  const auto nothing = [&] {
    return trim(step.output).empty() || is_empty_output(step.output, rules_.lexicon, rules_.content, step.input);
  };
  return rules_.by_design && (scene_.silent[step.name] || (nothing() && prints_nothing_by_design(step.input, rules_.content.tools.calls)));
}

std::size_t ToolGaps::given_before(const RunView& run, std::size_t step) const {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < std::min(step, run.steps.size()); ++i) {
    if (run.steps[i].kind == Kind::kTool && !scene_.hollow[i]) bytes += run.steps[i].output.size();
  }
  return bytes;
}

/// "think", "sequential_thinking": tools that only store the agent's thoughts.
bool ToolGaps::only_thinks(std::string_view tool) const {
  return names_any(tool, rules_.content.tools.thinking_words);
}

void ToolGaps::learn_design(const RunView& run) {
  scene_.silent.clear();
  std::unordered_map<std::string_view, std::size_t> calls;
  for (const auto& step : run.steps) {
    if (step.kind != Kind::kTool) continue;
    // One call is enough for a tool that acts and returns null; a program that prints nothing may have been meant to print.
    const bool acts = step.output.find("null") != std::string_view::npos && only_acts(step.name);
    calls[step.name] += acts ? kCallsThatTeach : 1;
    // "[]" and "no results" are answers; a tool without answers returns nothing at all.
    const bool bare = trim(step.output).empty();
    const bool nothing = present(step.output) && (bare || (!scene_.tools.meaning(step.name).reads && holds_nothing(step.output)));
    const bool silent = nothing && failure_of(step, rules_.content) == Failure::kNone;
    const auto [it, fresh] = scene_.silent.try_emplace(step.name, silent);
    it->second = it->second && silent;
  }
  for (auto& [name, silent] : scene_.silent) silent = silent && (calls[name] >= kCallsThatTeach || only_thinks(name));
}

bool ToolGaps::only_acts(std::string_view tool) {
  const auto& meaning = scene_.tools.meaning(tool);
  return !meaning.reads && meaning.group != 0;
}

/// True for a look-up, or a query of SQL: the next call of the same tool may ask for anything else.
bool ToolGaps::asks_anything(const StepView& step) {
  constexpr std::string_view kQuery = "select ";
  if (scene_.tools.meaning(step.name).reads) return true;
  collect_values(step.input, rules_.content.tools.calls, scene_.values);
  const auto begins = [&](std::string_view text) { return equal_ignoring_case(trim(text).substr(0, kQuery.size()), kQuery); };
  return begins(step.input) ||
         std::any_of(scene_.values.begin(), scene_.values.end(), [&](const CallValue& value) { return begins(value.text); });
}

/// A program may do the same in another way.
bool ToolGaps::of_another_object(const StepView& one, const StepView& other) {
  if (one.name != other.name || scene_.tools.meaning(one.name).runs_anything()) return false;
  return name_different_things(one, other, rules_.content.tools.calls);
}

GhostScene::Hollow ToolGaps::after_tool(const RunView& run, std::size_t i, Hollow hollow) {
  const auto& step = run.steps[i];
  if (scene_.hollow[i]) {
    if (silent_by_design(step)) {
      scene_.designed = i;
      return hollow;
    }
    // A failed write was not called for data, and a script may have printed data before it failed.
    const auto& tool = scene_.tools.meaning(step.name);
    const bool wrote = rules_.by_design && !tool.reads && !tool.any_purpose && !tool.may_look;
    const bool printed = rules_.grounding && failure_of(step, rules_.content) == Failure::kHard && step.output.size() >= kPrinted;
    return {.step = i, .ids_only = wrote, .printed = printed, .wrote = wrote};
  }
  if (hollow.step == kNoStep || !rules_.later_answers) return {};
  if (step.output.size() <= kMostUnrelated && of_another_object(run.steps[hollow.step], step)) {
    hollow.apart = true;
    return hollow;
  }
  // Another query that returned something may have asked for something else; a program was repeated.
  if (run.steps[hollow.step].name == step.name && !asks_anything(run.steps[hollow.step])) return {};
  return {.step = hollow.step, .ids_only = hollow.ids_only, .later = true, .printed = hollow.printed, .wrote = hollow.wrote};
}

}  // namespace runwarden::plugins
