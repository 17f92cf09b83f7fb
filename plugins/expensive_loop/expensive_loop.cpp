#include "expensive_loop/expensive_loop.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "common/json_scan.h"
#include "common/tools.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::int64_t kDefaultRepeats = 3;
constexpr std::int64_t kHighFrom = 6;
constexpr std::int64_t kMostScored = 6;
constexpr std::size_t kLongestCycle = 4;
constexpr std::size_t kMostEvidence = 32;  // no host takes more
constexpr std::size_t kFreshDigits = 5;
constexpr double kMostCostUsd = 1e9;  // a larger figure is not a cost, and the summary does not mention spend

constexpr SettingSchema kProperties[] = {{"repeats", R"({"type":"integer","minimum":2,"maximum":1000})"}};

constexpr Rule kRules[] = {
    {"progress"}, {"user_turn"}, {"fresh_ids"}, {"json_inputs"}, {"cycles"}, {"counters"}, {"short_failures"},
};

constexpr SettingsForm kForm{kProperties, kRules};

/// A hash that is equal for outputs that differ only in words with digits: attempt numbers, times, request ids.
std::uint64_t hash_without_numbers(std::string_view text) {
  std::uint64_t hash = 0x5C;
  std::uint64_t word = 0;
  bool open = false;
  bool number = false;
  const auto letter_at = [&](std::size_t i) { return is_word_byte(static_cast<char>(text[i] | 0x20)) || text[i] == '-' || text[i] == '_'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    // A point, colon or comma between digits is part of the number: "1.52", "10:15:02".
    const bool joins =
        open && number && (text[i] == '.' || text[i] == ':' || text[i] == ',') && i + 1 < text.size() && is_digit(text[i + 1]);
    if (joins || letter_at(i)) {
      open = true;
      number |= is_digit(text[i]);
      word = (word ^ static_cast<unsigned char>(text[i])) * 0x100000001b3ull;
      continue;
    }
    if (open) hash = mix(hash, number ? 1 : word);
    word = 0;
    open = number = false;
    hash = mix(hash, static_cast<unsigned char>(text[i]));
  }
  return open ? mix(hash, number ? 1 : word) : hash;
}

bool has_arguments(std::string_view input) {
  const auto text = trim(input);
  return !text.empty() && text != "{}" && text != "null";
}

/// Replaces each digit of a time of day ("18:12:38") with 0, in an output that says more than the time. Returns `text` itself when it
/// contains none, else a view of `buffer`.
std::string_view without_clock(std::string_view text, std::string& buffer) {
  constexpr std::size_t kLongTextBytes = 100;
  if (text.size() < kLongTextBytes) return text;
  const auto digits = [&](std::size_t i) { return i + 1 < text.size() && is_digit(text[i]) && is_digit(text[i + 1]); };
  bool found = false;
  for (auto at = text.find(':'); at != std::string_view::npos; at = text.find(':', at + 1)) {
    if (at == 0 || !is_digit(text[at - 1]) || !digits(at + 1) || at + 3 >= text.size() || text[at + 3] != ':' || !digits(at + 4)) continue;
    if (!found) buffer.assign(text);
    found = true;
    const auto begin = at > 1 && is_digit(text[at - 2]) ? at - 2 : at - 1;
    auto end = at + 6;
    if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) ++end;
    while (end < text.size() && is_digit(text[end])) ++end;
    for (auto i = begin; i < end; ++i) buffer[i] = '0';
  }
  return found ? std::string_view(buffer) : text;
}

/// A hash that is equal for outputs that differ only in fresh ids: words of letters and digits, and long numbers.
std::uint64_t masked_hash(std::string_view text) {
  std::uint64_t hash = 0x3A;
  std::uint64_t word = 0;
  std::size_t digits = 0;
  std::size_t others = 0;
  const auto close = [&] {
    hash = mix(hash, digits >= kFreshDigits || (digits > 0 && others > 0) ? 1 : word);
    word = digits = others = 0;
  };
  for (const char c : text) {
    const bool letter = is_ascii_letter(c) || c == '-' || c == '_';
    if (!letter && !is_digit(c)) {
      close();
      hash = mix(hash, static_cast<unsigned char>(c));
      continue;
    }
    ++(letter ? others : digits);
    word = (word ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  }
  close();
  return hash;
}

}  // namespace

ExpensiveLoop::ExpensiveLoop(std::string_view settings_json) {
  const Settings settings(settings_json, kForm);
  threshold_ = settings.integer("repeats", kDefaultRepeats);
  progress_ = settings.rule("progress");
  user_turn_ = settings.rule("user_turn");
  fresh_ids_ = settings.rule("fresh_ids");
  json_inputs_ = settings.rule("json_inputs");
  cycles_ = settings.rule("cycles");
  counters_ = settings.rule("counters");
  content_ = make_content_rules(settings);
  under_way_words_ = settings.vocabulary().words(Key::kUnderWayWords);
  pausing_words_ = settings.vocabulary().words(Key::kPausingWords);
  cosmetic_members_ = settings.vocabulary().words(Key::kCosmeticMembers);
}

std::string ExpensiveLoop::schema() {
  return kForm.schema();
}

/// True for "sleep" and "wait" between other calls: whether those got anywhere decides.
bool ExpensiveLoop::pauses_between(const RunView& run, std::size_t at) const {
  const auto& call = calls_[at];
  const bool again = at > 0 && calls_[at - 1].tool == call.tool;
  return !call.failed && !again && names_any(run.steps[call.step].name, pausing_words_);
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
    call.reads = is_read_tool(step.name, content_.tools) || only_looks_for(step);
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

/// True for a call of any tool whose only arguments are what to look for.
bool ExpensiveLoop::only_looks_for(const StepView& step) {
  constexpr std::size_t kLongest = 1000;
  if (!present(step.input) || step.input.size() > kLongest || !looks_like_json(step.input)) return false;
  collect_values(step.input, content_.tools.calls, values_);
  return only_asks(values_, content_.tools);
}

/// Ignores, for a look-up, how many answers are wanted, and why.
std::uint64_t ExpensiveLoop::input_hash(const Call& call, std::string_view input) const {
  return call.reads ? canonical_hash(input, cosmetic_members_) : canonical_hash(input);
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
    call.key = mix(call.tool, !present(text) ? 0 : !json_inputs_ ? hash_text(text) : input_hash(call, text));
  }
}

std::uint64_t ExpensiveLoop::output_of(const RunView& run, Call& call) {
  if (call.output_made) return call.output;
  call.output_made = true;
  const auto& output = run.steps[call.step].output;
  run.pace(output.size());
  if (!present(output)) return call.output;
  const auto text = progress_ ? without_clock(output, masked_) : output;
  call.output = fresh_ids_ && !call.reads ? masked_hash(text) : canonical_hash(text);
  return call.output;
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
  return std::any_of(under_way_words_.begin(), under_way_words_.end(),
                     [&](const auto& word) { return folded_.find(word) != std::string::npos; });
}

std::uint64_t ExpensiveLoop::refusal_of(const RunView& run, Call& call) {
  if (call.refusal_made) return call.refusal;
  const auto& step = run.steps[call.step];
  call.refusal_made = true;
  run.pace(step.output.size());
  if (failure_of(step, content_) != Failure::kNone && !under_way(step.output)) call.refusal = hash_without_numbers(trim(step.output));
  return call.refusal;
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

Finding ExpensiveLoop::finding(const RunView& run, const std::string& name, std::int64_t repeats, std::size_t primary) const {
  Finding out;
  out.source = Source::kRuntime;
  out.severity = repeats >= kHighFrom ? Severity::kHigh : Severity::kMedium;
  out.score = static_cast<int>(std::min<std::int64_t>(92, 70 + 3 * std::min(repeats, kMostScored)));
  const auto count = std::to_string(repeats);
  out.title = "Runaway loop: \"" + name + "\" repeated " + count + "\u00D7 with no progress";
  out.summary =
      "The agent retried \"" + name + "\" " + count + " times without changing inputs or making progress, with no escalation or backoff.";
  if (run.cost_usd && *run.cost_usd <= kMostCostUsd && repeats > 0) {
    const auto waste = *run.cost_usd * static_cast<double>(repeats - 1) / static_cast<double>(repeats);
    out.waste_usd = std::round(waste * 100) / 100;
    out.summary += " Estimated wasted spend: $" + two_decimals(*out.waste_usd) + ".";
  }
  out.primary_step = primary;
  out.fingerprint_parts = {name, run.steps[primary].outcome == Outcome::kFailed ? quote(failure_text(run.steps[primary])) : ""};
  return out;
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
    // Repeating "No canvas generated" is not work, whatever was requested.
    const auto answer = mix(call.tool, output_of(run, call));
    const bool fresh = !done_.contains(answer);
    done_.insert(call.key);
    done_.insert(answer);
    if (!fresh) continue;
    ++own;
    ++all;
  }
}

/// True for a successful call that is not a look-up, when another tool did something new in between: "edit config; run train" repeatedly
/// with different edits, "go east" with another thing in hand. Such a call's arguments do not show all that it works on.
bool ExpensiveLoop::runs_on_other_work(const RunView& run, const Call& before, const Call& after) {
  count_new_work(run);
  if (after.new_work - before.new_work == after.own_new_work - before.own_new_work) return false;
  const auto& step = run.steps[after.step];
  return !after.failed && !names_look_up(step.name, content_.tools) && failure_of(step, content_) == Failure::kNone;
}

/// True when what happened between two equal calls (by index) makes the second a different call: a file that they name was changed, a
/// command may work on what another tool did, or, for calls without arguments, a call that acts succeeded. When the record says explicitly
/// that they had no arguments, calls of the same tool with arguments do not count.
bool ExpensiveLoop::moved_on(const RunView& run, std::size_t before, std::size_t after) {
  if (!progress_ || after == before + 1) return false;
  if (has_arguments(run.steps[calls_[after].step].input)) {
    return changed_between(run, before, after) || runs_on_other_work(run, calls_[before], calls_[after]);
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

/// True when as many failed calls as just make a loop were followed by a call of the same tool that worked, with other arguments, or after
/// another tool was called or the user spoke, which may have changed what stood in the way.
bool ExpensiveLoop::put_right_after(const RunView& run, const std::vector<std::size_t>& members) const {
  constexpr std::ptrdiff_t kReach = 64;  // calls within which the tool's next one must follow
  if (!progress_ || static_cast<std::int64_t>(members.size()) > threshold_) return false;
  const auto failed = [&](std::size_t index) { return failure_of(run.steps[calls_[index].step], content_) != Failure::kNone; };
  if (!std::all_of(members.begin(), members.end(), failed)) return false;
  const auto& last = calls_[members.back()];
  const auto first = calls_.begin() + static_cast<std::ptrdiff_t>(members.back()) + 1;
  const auto end = first + std::min(kReach, calls_.end() - first);
  const auto next = std::find_if(first, end, [&](const Call& call) { return call.tool == last.tool; });
  if (next == end || !next->known || failed(static_cast<std::size_t>(next - calls_.begin()))) return false;
  return next->key != last.key || next != first || next->user_turns > last.user_turns;
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
                       "the next call of the tool succeeded, with different arguments or after another call");
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

Finding ExpensiveLoop::loop_of(const RunView& run, const std::vector<std::size_t>& members, std::size_t primary) const {
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
  collect(run);
  if (cycles_) find_cycles(run, verdict);
  find_series(run, verdict);
  find_retries(run, verdict);
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
