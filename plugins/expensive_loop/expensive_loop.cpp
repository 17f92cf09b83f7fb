#include "expensive_loop/expensive_loop.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "common/json_scan.h"
#include "common/shared_rules.h"
#include "common/tools.h"
#include "common/words.h"
#include "evidence/trouble.h"
#include "expensive_loop/output_hash.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::int64_t kDefaultRepeats = 3;
constexpr std::int64_t kHighFrom = 6;
constexpr std::int64_t kMostScored = 6;
constexpr std::size_t kLongestCycle = 4;
constexpr std::size_t kMostEvidence = 32;  // no host takes more
constexpr double kMostCostUsd = 1e9;  // a larger figure is not a cost, and the summary does not mention spend

constexpr SettingSchema kProperties[] = {{"repeats", R"({"type":"integer","minimum":2,"maximum":1000})"}};

constexpr Rule kRules[] = {
    {"progress"}, {"user_turn"}, {"fresh_ids"}, {"json_inputs"}, {"cycles"}, {"counters"}, {"short_failures"},
};

constexpr SettingsForm kForm{kProperties, kRules};

bool has_arguments(std::string_view input) {
  const auto text = trim(input);
  return !text.empty() && text != "{}" && text != "null";
}

}  // namespace

ExpensiveLoop::ExpensiveLoop(std::string_view settings_json) : ExpensiveLoop(settings_json, Settings(settings_json, kForm)) {}

ExpensiveLoop::ExpensiveLoop(std::string_view settings_json, const Settings& settings)
    : rules_(shared_rules<LoopRules>(settings_json, settings)), content_(rules_->content) {
  threshold_ = settings.integer("repeats", kDefaultRepeats);
  progress_ = settings.rule("progress");
  user_turn_ = settings.rule("user_turn");
  fresh_ids_ = settings.rule("fresh_ids");
  json_inputs_ = settings.rule("json_inputs");
  cycles_ = settings.rule("cycles");
  counters_ = settings.rule("counters");
}

std::string ExpensiveLoop::schema() {
  return kForm.schema();
}

/// True for "sleep" and "wait" between other calls: whether those got anywhere decides.
bool ExpensiveLoop::pauses_between(const RunView& run, std::size_t at) const {
  const auto& call = calls_[at];
  const bool again = at > 0 && calls_[at - 1].tool == call.tool;
  return !call.failed && !again && names_any(run.steps[call.step].name, rules_->pausing_words);
}

void ExpensiveLoop::collect(const RunView& run) {
  calls_.clear();
  changes_.clear();
  std::uint32_t user_turns = 0;
  std::uint32_t writes = 0;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind == Kind::kUser) ++user_turns;
    if (step.kind != Kind::kTool) continue;
    Call call;
    call.step = i;
    call.known = !step.name.empty() && present(step.input);
    call.failed = step.outcome == Outcome::kFailed;
    call.reads = is_read_tool(step.name, content_.tools) || names_only_look_up(step.name) || only_looks_for(step);
    call.tool = hash_bytes(step.name);
    call.user_turns = user_turns;
    call.writes = writes;
    if (!call.reads && !call.failed) ++writes;
    calls_.push_back(call);
  }
  taken_.assign(calls_.size(), false);
  touches_.clear();
  touches_made_ = new_work_made_ = false;
  key_calls(run);
}

/// True for a tool whose name tells of a look-up and of nothing else: "inventory_lookup".
bool ExpensiveLoop::names_only_look_up(std::string_view tool) const {
  const auto& words = content_.tools;
  return names_look_up(tool, words) && !names_any(tool, words.changing_words) && !names_any(tool, words.query_words) &&
         !is_any_purpose_tool(tool, content_);
}

/// True for a call of any tool whose only arguments are what to look for.
bool ExpensiveLoop::only_looks_for(const StepView& step) {
  constexpr std::size_t kLongest = 1000;
  if (!present(step.input) || step.input.size() > kLongest || !looks_like_json(step.input)) return false;
  collect_values(step.input, content_.tools.calls, values_);
  return only_asks(values_, content_.tools);
}

/// Ignores how many answers are wanted, and why, unless the tool's name tells of a change: there, the reason may be what is written. For a
/// look-up, also what is not set; for other calls, how a command is spaced.
std::uint64_t ExpensiveLoop::input_hash(const Call& call, const StepView& step) const {
  Tolerance tolerance;
  if (!call.reads) tolerance.spaced = rules_->command_members;
  if (!call.reads && names_any(step.name, content_.tools.changing_words)) return canonical_hash(step.input, tolerance);
  tolerance.unset = call.reads;
  const auto nothing = canonical_hash("{}", tolerance);
  if (!names_any(step.name, content_.tools.thinking_words)) tolerance.ignored = rules_->cosmetic_members;
  const auto hash = canonical_hash(step.input, tolerance);
  return hash != nothing ? hash : canonical_hash(step.input);
}

/// Compares inputs only for tools with enough calls for a loop.
void ExpensiveLoop::key_calls(const RunView& run) {
  tools_.clear();
  for (const auto& call : calls_) tools_.push_back(call.tool);
  std::sort(tools_.begin(), tools_.end());
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    auto& call = calls_[i];
    run.pace(run.steps[call.step].input.size());
    const auto [first, last] = std::equal_range(tools_.begin(), tools_.end(), call.tool);
    if (last - first < threshold_ || (progress_ && pauses_between(run, i))) {
      call.key = mix(call.tool, i);
      continue;
    }
    const auto& text = run.steps[call.step].input;
    call.key = mix(call.tool, !present(text) ? 0 : !json_inputs_ ? hash_text(text) : input_hash(call, run.steps[call.step]));
  }
}

std::uint64_t ExpensiveLoop::output_of(const RunView& run, Call& call) {
  if (call.output_made) return call.output;
  call.output_made = true;
  const auto& output = run.steps[call.step].output;
  run.pace(output.size());
  if (!present(output)) return call.output;
  if (!progress_) {
    call.output = fresh_ids_ && !call.reads ? hash_without_ids(output) : canonical_hash(output);
  } else {
    const auto text = without_clock(without_headers(output, body_), masked_);
    call.output = fresh_ids_ && !call.reads ? hash_without_ids(text) : answer_hash(text);
  }
  return call.output;
}

/// The hash of what a look-up returned, without the members that differ in each answer. If it has no others, they are the answer.
std::uint64_t ExpensiveLoop::answer_hash(std::string_view text) const {
  Tolerance tolerance;
  tolerance.ignored = rules_->fresh_members;
  tolerance.outermost_only = true;
  const auto hash = canonical_hash(text, tolerance);
  return hash != canonical_hash("{}") ? hash : canonical_hash(text);
}

/// True when, between two calls of one series (by index), another successful call touched a file that they name.
bool ExpensiveLoop::changed_between(const RunView& run, std::size_t before, std::size_t after) {
  if (!touches_made_) {
    touches_made_ = true;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const auto& step = run.steps[calls_[i].step];
      if (calls_[i].reads || calls_[i].failed || !present(step.input)) continue;
      run.pace(step.input.size());
      touches_.add(i, mix(calls_[i].tool, hash_text(step.input)), step, content_.tools.calls);
    }
    touches_.finish();
  }
  return touches_.between(run.steps[calls_[before].step].input, before, after);
}

bool ExpensiveLoop::under_way(std::string_view output) {
  fold(output, folded_);
  const auto& words = rules_->under_way_words;
  return std::any_of(words.begin(), words.end(), [&](const auto& word) { return folded_.find(word) != std::string::npos; });
}

std::uint64_t ExpensiveLoop::refusal_of(const RunView& run, Call& call) {
  if (call.refusal_made) return call.refusal;
  const auto& step = run.steps[call.step];
  call.refusal_made = true;
  run.pace(step.output.size());
  if ((failure_of(step, content_) != Failure::kNone || (call.reads && found_nothing(step))) && !under_way(step.output))
    call.refusal = hash_without_numbers(trim(step.output));
  return call.refusal;
}

/// "Searched 2061 bytes, no matching entry": true for an output that says, or shows, that nothing was found.
bool ExpensiveLoop::found_nothing(const StepView& step) {
  constexpr std::size_t kLongest = 600;  // bytes
  if (step.output.size() > kLongest) return false;
  if (is_empty_output(step.output, rules_->lexicon, content_, step.input)) return true;
  if (looks_like_json(step.output)) return false;
  read(step.output, rules_->lexicon, reading_);
  return has(reading_.cues, kCueNothingFound | kCueEmptyWord);
}

/// The number of earlier calls that did not fail, not even softly, and may have changed something.
std::uint32_t ExpensiveLoop::changes_before(const RunView& run, const Call& call) {
  if (changes_.empty()) {
    std::uint32_t changes = 0;
    for (const auto& other : calls_) {
      const auto& step = run.steps[other.step];
      changes_.resize(other.step + 1, changes);
      if (other.reads || other.failed) continue;
      run.pace(step.output.size());
      if (failure_of(step, content_) == Failure::kNone) ++changes;
    }
  }
  return changes_[call.step];
}

/// True when both calls failed alike, except for numbers that count attempts or tell the time, and nothing was done in between that the
/// numbers could reflect.
bool ExpensiveLoop::same_refusal(const RunView& run, Call& before, Call& after) {
  if (!counters_ || before.user_turns != after.user_turns) return false;
  const auto refusal = refusal_of(run, before);
  return refusal != 0 && refusal == refusal_of(run, after) && changes_before(run, before) == changes_before(run, after);
}

/// True when the later of two equal calls was not a plain repetition of the earlier one.
bool ExpensiveLoop::learned(const RunView& run, Call& before, Call& after, std::string_view& rule) {
  const bool same_output = output_of(run, before) == output_of(run, after);
  if (progress_ && !(before.failed && after.failed) && !same_output && !same_refusal(run, before, after)) {
    rule = "progress";
    return true;
  }
  // "Pending (3/12)", then "pending (7/12)", with an exit status that says so: what is waited for moves on.
  if (progress_ && before.failed && after.failed && !same_output && under_way(run.steps[before.step].output) &&
      under_way(run.steps[after.step].output)) {
    rule = "progress";
    return true;
  }
  // A different failure after a change, or after the user spoke, is the next step of a repair.
  const auto changed = [&] { return after.user_turns > before.user_turns || changes_before(run, before) != changes_before(run, after); };
  const auto other_refusal = [&] {
    return hash_without_numbers(trim(run.steps[before.step].output)) != hash_without_numbers(trim(run.steps[after.step].output));
  };
  if (progress_ && before.failed && after.failed && !same_output && changed() && other_refusal()) {
    rule = "progress";
    return true;
  }
  // The same refusal teaches nothing, even if the user asked again.
  if (before.failed && after.failed && same_output) return false;
  // If the earlier call writes, it is itself one of the writes before the later one.
  const auto own = !before.reads && !before.failed ? 1u : 0u;
  // A change is repeated legitimately when the user asks again.
  if (user_turn_ && after.user_turns > before.user_turns && (own > 0 || after.writes > before.writes)) {
    rule = "user_turn";
    return true;
  }
  return false;
}

Finding ExpensiveLoop::finding(const RunView& run, const std::string& name, std::int64_t repeats, std::size_t primary) {
  repeats_.push_back(repeats);
  Finding out;
  out.source = Source::kRuntime;
  out.severity = repeats >= kHighFrom ? Severity::kHigh : Severity::kMedium;
  out.score = static_cast<int>(std::min<std::int64_t>(92, 70 + 3 * std::min(repeats, kMostScored)));
  const auto count = std::to_string(repeats);
  out.title = "Runaway loop: \"" + name + "\" repeated " + count + "\u00D7 with no progress";
  out.summary =
      "The agent retried \"" + name + "\" " + count + " times without changing inputs or making progress, with no escalation or backoff.";
  out.primary_step = primary;
  out.fingerprint_parts = {name, run.steps[primary].outcome == Outcome::kFailed ? quote(failure_text(run.steps[primary])) : ""};
  return out;
}

/// Estimates what each loop wasted. Several loops share the cost of the run by their repeats, so that together they waste no more than it.
void ExpensiveLoop::estimate_waste(const RunView& run, Verdict& verdict) const {
  if (!run.cost_usd || *run.cost_usd > kMostCostUsd) return;
  const auto all = static_cast<double>(std::accumulate(repeats_.begin(), repeats_.end(), std::int64_t{0}));
  for (std::size_t i = 0; i < verdict.findings.size(); ++i) {
    auto& found = verdict.findings[i];
    const auto cents = *run.cost_usd * 100 * static_cast<double>(repeats_[i] - 1) / all;
    found.waste_usd = (repeats_.size() > 1 ? std::floor(cents) : std::round(cents)) / 100;
    found.summary += " Estimated wasted spend: $" + two_decimals(*found.waste_usd) + ".";
  }
}

std::size_t ExpensiveLoop::cycle_rounds(const RunView& run, std::size_t at, std::size_t length) {
  std::string_view rule;
  std::size_t same = 0;
  for (auto i = at + length; i < calls_.size(); ++i, ++same) {
    auto& before = calls_[i - length];
    auto& after = calls_[i];
    if (!after.known || before.key != after.key || taken_[i] || learned(run, before, after, rule)) break;
  }
  return same / length + 1;
}

void ExpensiveLoop::find_cycles(const RunView& run, Verdict& verdict) {
  for (std::size_t at = 0; at + 2 < calls_.size() && !verdict.full(); ++at) {
    if (!calls_[at].known || taken_[at] || calls_[at].key == calls_[at + 1].key) continue;
    for (std::size_t length = 2; length <= kLongestCycle && at + length < calls_.size(); ++length) {
      if (calls_[at + length].key != calls_[at].key) continue;
      const auto rounds = cycle_rounds(run, at, length);
      if (static_cast<std::int64_t>(rounds) < threshold_) break;
      std::vector<std::size_t> members;
      for (std::size_t k = 0; k < rounds; ++k) members.push_back(at + k * length);
      if (asked_each_time(run, members)) break;
      std::string name;
      for (std::size_t k = 0; k < length; ++k) {
        if (k > 0) name += " \u2192 ";
        name += step_name(run.steps[calls_[at + k].step]);
      }
      auto found = finding(run, name, static_cast<std::int64_t>(rounds), calls_[at + length].step);
      for (std::size_t k = 0; k < length * rounds; ++k) {
        taken_[at + k] = true;
        const auto step = calls_[at + k].step;
        if (k < kMostEvidence) found.evidence.push_back({pointer_to(step, Field::kInput), quote(run.steps[step].input)});
      }
      verdict.findings.push_back(std::move(found));
      at += length * rounds - 1;
      break;
    }
  }
}

/// Counts, once for all calls, the earlier calls that did what no call had done before, and how many of those are of the same tool.
void ExpensiveLoop::count_new_work(const RunView& run) {
  if (new_work_made_) return;
  new_work_made_ = true;
  done_.clear();
  std::vector<std::uint32_t> of_tool(tools_.size());
  std::uint32_t all = 0;
  for (auto& call : calls_) {
    auto& own = of_tool[static_cast<std::size_t>(std::lower_bound(tools_.begin(), tools_.end(), call.tool) - tools_.begin())];
    call.new_work = all;
    call.own_new_work = own;
    if (!call.known || call.reads || call.failed || done_.contains(call.key)) continue;
    const auto& step = run.steps[call.step];
    run.pace(step.output.size());
    if (failure_of(step, content_) != Failure::kNone || names_look_up(step.name, content_.tools)) continue;
    // Repeating "No canvas generated" is not work, whatever was requested; repeating "ok" is.
    const auto answer = mix(call.tool, output_of(run, call));
    const bool fresh = !done_.contains(answer) || !speaks_of_trouble(step.output, rules_->lexicon, reading_);
    done_.insert(call.key);
    done_.insert(answer);
    if (!fresh) continue;
    ++own;
    ++all;
  }
}

/// True when another tool did something new between two equal calls (by index): "edit config; run train" repeatedly with different edits,
/// "go east" with another thing in hand. Such a call's arguments do not show all that it works on. A look-up works on what it names.
bool ExpensiveLoop::runs_on_other_work(const RunView& run, std::size_t before, std::size_t after) {
  count_new_work(run);
  const auto& first = calls_[before];
  const auto& again = calls_[after];
  if (again.new_work - first.new_work == again.own_new_work - first.own_new_work) return false;
  if (!again.reads && !names_look_up(run.steps[again.step].name, content_.tools)) return true;
  return changes_what_is_looked_up(run, before, after);
}

/// True when a call that did something new between two equal look-ups (by index) names what they name: "set_priority {"id": 7}" between
/// two of "get_ticket {"id": 7}". Searches the nearest calls only.
bool ExpensiveLoop::changes_what_is_looked_up(const RunView& run, std::size_t before, std::size_t after) {
  constexpr std::size_t kReach = 16, kLongest = 4000;  // calls; bytes of arguments
  if (run.steps[calls_[after].step].input.size() > kLongest) return false;
  collect_values(run.steps[calls_[after].step].input, content_.tools.calls, values_);
  if (values_.empty()) return false;
  for (auto i = std::max(before + 1, after - std::min(after, kReach)); i < after; ++i) {
    const auto& call = calls_[i];
    if (call.tool == calls_[after].tool || calls_[i + 1].new_work == call.new_work) continue;
    collect_values(run.steps[call.step].input.substr(0, kLongest), content_.tools.calls, changed_);
    const auto named = [&](const CallValue& value) {
      return std::any_of(changed_.begin(), changed_.end(), [&](const CallValue& other) {
        return other.normal == value.normal && (value.names_object || other.key == value.key);
      });
    };
    if (std::all_of(values_.begin(), values_.end(), named)) return true;
  }
  return false;
}

/// True when what happened between two equal calls (by index) makes the second a different call: a file that they name was changed, a
/// command may work on what another tool did, or, for calls without arguments, a call that acts succeeded. When the record says explicitly
/// that they had no arguments, calls of the same tool with arguments do not count.
bool ExpensiveLoop::moved_on(const RunView& run, std::size_t before, std::size_t after) {
  if (!progress_ || after == before + 1) return false;
  if (has_arguments(run.steps[calls_[after].step].input)) {
    return changed_between(run, before, after) || runs_on_other_work(run, before, after);
  }
  const auto& again = calls_[after];
  const bool recorded = !trim(run.steps[again.step].input).empty();
  const auto worked = [&](const Call& call) {
    const bool another = call.tool != again.tool || !recorded;
    return another && !call.reads && failure_of(run.steps[call.step], content_) == Failure::kNone;
  };
  return std::any_of(calls_.begin() + static_cast<std::ptrdiff_t>(before) + 1, calls_.begin() + static_cast<std::ptrdiff_t>(after), worked);
}

/// The largest group of equal calls between two user turns that have the same output, if it is large enough for a loop: what happened in
/// between taught nothing that lasted.
std::vector<std::size_t> ExpensiveLoop::same_answers(const RunView& run, std::size_t begin, std::size_t end) {
  std::vector<std::size_t> members;
  std::uint32_t changes = 0;
  for (auto k = begin; k < end; ++k) {
    auto& call = calls_[order_[k]];
    if (k > begin && moved_on(run, order_[k - 1], order_[k])) ++changes;
    call.changes = changes;
    const auto& output = run.steps[call.step].output;
    if (!call.known || !present(output) || under_way(output)) continue;
    call.output = output_of(run, call);
    members.push_back(order_[k]);
  }
  const auto group = [&](std::size_t index) { return std::tuple(calls_[index].user_turns, calls_[index].changes, calls_[index].output); };
  std::stable_sort(members.begin(), members.end(), [&](auto a, auto b) { return group(a) < group(b); });
  std::vector<std::size_t> most;
  for (auto first = members.begin(); first != members.end();) {
    const auto last = std::find_if(first, members.end(), [&](auto index) { return group(index) != group(*first); });
    if (static_cast<std::size_t>(last - first) > most.size()) most.assign(first, last);
    first = last;
  }
  if (static_cast<std::int64_t>(most.size()) < threshold_) most.clear();
  return most;
}

/// True when as many calls as just make a loop came to something in the end: failed ones were followed by a call of the same tool that
/// worked, with other arguments, or after another tool was called or the user spoke, which may have changed what stood in the way, or at
/// once by a call of another tool about the same thing; or the next of equal look-ups had another answer, which they waited for.
bool ExpensiveLoop::put_right_after(const RunView& run, const std::vector<std::size_t>& members) {
  constexpr std::ptrdiff_t kReach = 64;  // calls within which the tool's next one must follow
  if (!progress_ || static_cast<std::int64_t>(members.size()) > threshold_) return false;
  const auto failed = [&](std::size_t index) { return failure_of(run.steps[calls_[index].step], content_) != Failure::kNone; };
  auto& last = calls_[members.back()];
  const auto first = calls_.begin() + static_cast<std::ptrdiff_t>(members.back()) + 1;
  const auto end = first + std::min(kReach, calls_.end() - first);
  const auto next = std::find_if(first, end, [&](const Call& call) { return call.tool == last.tool; });
  const bool worked = next != end && next->known && !failed(static_cast<std::size_t>(next - calls_.begin()));
  if (std::none_of(members.begin(), members.end(), failed))
    return worked && last.reads && next->key == last.key && next->user_turns == last.user_turns &&
           output_of(run, *next) != output_of(run, last);
  if (!std::all_of(members.begin(), members.end(), failed)) return false;
  if (next == end) {
    const bool alike = first != end && first->reads == last.reads && !failed(members.back() + 1);
    return alike && is_about_the_same(run, last, *first);
  }
  return worked && (next->key != last.key || next != first || next->user_turns > last.user_turns);
}

/// True when one call of a few values names a thing that the other names.
bool ExpensiveLoop::is_about_the_same(const RunView& run, const Call& one, const Call& other) {
  constexpr std::size_t kMost = 32;  // values of a call
  collect_values(run.steps[one.step].input, content_.tools.calls, values_);
  collect_values(run.steps[other.step].input, content_.tools.calls, changed_);
  if (values_.size() > kMost || changed_.size() > kMost) return false;
  return std::any_of(values_.begin(), values_.end(), [&](const CallValue& value) {
    return value.names_object &&
           std::any_of(changed_.begin(), changed_.end(), [&](const CallValue& again) { return again.normal == value.normal; });
  });
}

/// True when only as many look-ups as just make a loop succeeded, each after another user turn: the user wants to know whether it is still
/// so.
bool ExpensiveLoop::asked_each_time(const RunView& run, const std::vector<std::size_t>& members) const {
  if (!user_turn_ || static_cast<std::int64_t>(members.size()) > threshold_) return false;
  for (std::size_t k = 0; k < members.size(); ++k) {
    const auto& call = calls_[members[k]];
    if (!call.reads || failure_of(run.steps[call.step], content_) != Failure::kNone) return false;
    if (k > 0 && calls_[members[k - 1]].user_turns == call.user_turns) return false;
  }
  return true;
}

void ExpensiveLoop::judge_group(const RunView& run, std::size_t begin, std::size_t end, Verdict& verdict) {
  if (static_cast<std::int64_t>(end - begin) < threshold_) return;
  Series best;
  Series series{begin, begin, 1};
  std::string_view broke;
  for (auto k = begin + 1; k < end; ++k) {
    std::string_view rule;
    auto& before = calls_[order_[k - 1]];
    auto& after = calls_[order_[k]];
    const bool counts = after.known || (before.failed && after.failed);
    const bool other = counts && !learned(run, before, after, rule) && moved_on(run, order_[k - 1], order_[k]);
    if (other) rule = "progress";
    if (!counts || !rule.empty()) {
      if (counts) broke = rule;
      series = {k, k, 1};
      continue;
    }
    if (++series.repeats == 2) series.second = k;
    if (series.repeats > best.repeats) best = series;
  }
  if (best.repeats >= threshold_) {
    std::vector<std::size_t> members(order_.begin() + static_cast<std::ptrdiff_t>(best.first),
                                     order_.begin() + static_cast<std::ptrdiff_t>(best.first) + best.repeats);
    if (put_right_after(run, members)) {
      verdict.suppress("put_right", calls_[members.back()].step,
                       "a later call succeeded, with different arguments or after another call, or had another answer");
    } else if (asked_each_time(run, members)) {
      verdict.suppress("user_turn", calls_[members.front()].step, "the user spoke before each of the equal look-ups");
    } else {
      verdict.findings.push_back(loop_of(run, members, calls_[order_[best.second]].step));
    }
  } else if (const auto members = same_answers(run, begin, end); !members.empty()) {
    verdict.findings.push_back(loop_of(run, members, calls_[members[1]].step));
  } else if (!broke.empty()) {
    verdict.suppress(broke, calls_[order_[begin]].step,
                     broke == "progress" ? "the output of equal calls changed, or the data they work on"
                                         : "a user turn and a change separate the equal calls");
  }
}

Finding ExpensiveLoop::loop_of(const RunView& run, const std::vector<std::size_t>& members, std::size_t primary) {
  auto found = finding(run, std::string(step_name(run.steps[primary])), static_cast<std::int64_t>(members.size()), primary);
  for (std::size_t k = 0; k < members.size() && k < kMostEvidence; ++k) {
    const auto step = calls_[members[k]].step;
    const auto& view = run.steps[step];
    if (failure_of(view, content_) != Failure::kNone) {
      found.evidence.push_back(failure_evidence(run, step));
    } else {
      found.evidence.push_back({pointer_to(step, Field::kInput), quote(view.input)});
    }
  }
  return found;
}

void ExpensiveLoop::find_series(const RunView& run, Verdict& verdict) {
  order_.clear();
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (!taken_[i] && !run.steps[calls_[i].step].name.empty()) order_.push_back(i);
  }
  std::sort(order_.begin(), order_.end(),
            [&](auto a, auto b) { return calls_[a].key != calls_[b].key ? calls_[a].key < calls_[b].key : a < b; });
  for (std::size_t begin = 0; begin < order_.size() && !verdict.full();) {
    auto end = begin + 1;
    while (end < order_.size() && calls_[order_[end]].key == calls_[order_[begin]].key) ++end;
    judge_group(run, begin, end, verdict);
    begin = end;
  }
}

void ExpensiveLoop::find_retries(const RunView& run, Verdict& verdict) {
  for (std::size_t i = 0; i < run.steps.size() && !verdict.full(); ++i) {
    const auto& step = run.steps[i];
    if (step.retry_count.value_or(0) < threshold_) continue;
    const std::string name(step_name(step));
    const auto same_tool = [&](const Finding& other) { return run.steps[other.primary_step].name == step.name && !step.name.empty(); };
    const auto other = std::find_if(verdict.findings.begin(), verdict.findings.end(), same_tool);
    if (other != verdict.findings.end()) {
      // One failure per loop: retries of a call that is already reported add evidence to it.
      other->evidence.push_back({pointer_to(i, Field::kRetryCount), std::to_string(*step.retry_count)});
      continue;
    }
    auto found = finding(run, name, *step.retry_count, i);
    found.evidence.push_back({pointer_to(i, Field::kRetryCount), std::to_string(*step.retry_count)});
    verdict.findings.push_back(std::move(found));
  }
}

std::string ExpensiveLoop::cannot_tell(const RunView& run) const {
  if (calls_.empty()) return "no tool steps: send each tool call as a step with stepKind \"tool\"";
  std::int64_t same = 0;  // consecutive calls of one tool in order_ with nothing recorded
  std::uint64_t key = 0;
  for (const auto index : order_) {
    const auto& call = calls_[index];
    const bool nothing = !call.known && !call.failed && !present(run.steps[call.step].output);
    same = nothing ? (call.key == key ? same + 1 : 1) : 0;
    key = call.key;
    if (same >= threshold_) return "tool calls repeat without inputSummary, outputSummary or status: send inputSummary on tool steps";
  }
  return {};
}

Verdict ExpensiveLoop::evaluate(const RunView& run) {
  Verdict verdict(run.explanation);
  repeats_.clear();
  collect(run);
  if (cycles_) find_cycles(run, verdict);
  find_series(run, verdict);
  find_retries(run, verdict);
  estimate_waste(run, verdict);
  std::stable_sort(verdict.findings.begin(), verdict.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.primary_step < b.primary_step; });
  if (verdict.findings.empty()) verdict.cannot_tell = cannot_tell(run);
  if (run.explanation == nullptr) return verdict;
  for (const auto& call : calls_) {
    const auto& step = run.steps[call.step];
    const auto outcome = call.failed ? "failed" : step.outcome == Outcome::kOk ? "ok" : "unknown";
    run.explanation->action(run, call.step, call.reads ? "read" : "write", outcome);
  }
  if (verdict.findings.empty())
    verdict.passed("repeats", kNoStep, "no equal calls, " + std::to_string(threshold_) + " or more, without progress");
  return verdict;
}

}  // namespace runwarden::plugins
