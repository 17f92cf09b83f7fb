#include "guardrail/evaluator.h"

#include <algorithm>

#include "common/json_scan.h"
#include "common/words.h"
#include "guardrail/signs.h"
#include "text/fold.h"

namespace runwarden::guardrail {
namespace {

constexpr std::size_t kStepsBetweenLooks = 32;

bool said_something(std::string_view text) {
  return !plugins::trim(text).empty();
}

// How many calls a step represents.
std::int64_t calls_of(const model::Step& step) {
  return std::clamp<std::int64_t>(step.retry_count.value_or(1), 1, kMostCount);
}

std::uint64_t input_of(const model::Step& step) {
  const std::uint64_t input = model::present(step.input) ? plugins::canonical_hash(step.input) : 0;
  return plugins::mix(plugins::hash_text(step.name), input);
}

std::string_view said_by_user(const model::Step& step) {
  return step.output.empty() ? step.input : step.output;
}

}  // namespace

Evaluator::Evaluator(const Draft& draft) : point_(draft.point), root_(draft.condition) {
  add(root_);
}

std::size_t Evaluator::add(const Condition& condition) {
  const std::size_t index = nodes_.size();
  nodes_.emplace_back().condition = &condition;
  std::vector<std::size_t> inner;
  for (const Condition& one : condition.inner) inner.push_back(add(one));
  Node& node = nodes_[index];
  node.inner = std::move(inner);
  node.tools.insert(condition.call.tools.begin(), condition.call.tools.end());
  if (!condition.words.empty()) node.phrases.emplace(condition.words);
  if (condition.kind == Condition::Kind::model && !condition.model.empty()) node.phrases.emplace(std::vector<std::string>{condition.model});
  reads_replies_ = reads_replies_ || condition.kind == Condition::Kind::reply;
  return index;
}

void Evaluator::start() {
  for (Node& node : nodes_) {
    node.calls = {};
    node.seen = false;
  }
  pending_ = nullptr;
  note_reply({});
  model_words_ = " ";
  tokens_.reset();
}

void Evaluator::note_request(std::string_view text) {
  if (text.empty()) return;
  std::string words;
  for (Node& node : nodes_) {
    if (node.condition->kind != Condition::Kind::request || node.seen) continue;
    if (words.empty()) words = words_of(text);
    node.seen = node.phrases->stand_in(words);
  }
}

void Evaluator::note_call(Node& node, const model::Step& step) {
  const CallCondition& wanted = node.condition->call;
  if (!node.tools.empty() && !node.tools.contains(step.name)) return;
  SeenCalls& calls = node.calls;
  if (!has_outcome(step, wanted.outcome)) {
    calls.in_row = calls.same_in_row = 0;
    return;
  }
  const std::int64_t count = calls_of(step);
  calls.count += count;
  calls.in_row += count;
  if (!wanted.same_input) return;
  // Inputs that were not recorded may differ, so such calls count as equal only if they failed.
  if (!model::present(step.input) && !call_failed(step)) {
    calls.same_in_row = 0;
    return;
  }
  const std::uint64_t input = input_of(step);
  calls.same_in_row = (calls.same_in_row > 0 && calls.latest == input ? calls.same_in_row : 0) + count;
  calls.latest = input;
  calls.by_input[input] += count;
}

void Evaluator::note_call(const model::Step& step) {
  std::string words;
  for (Node& node : nodes_) {
    if (node.condition->kind == Condition::Kind::call) note_call(node, step);
    if (node.condition->kind != Condition::Kind::no_call || node.seen) continue;
    if (words.empty()) words = words_of_name(step.name);
    node.seen = node.phrases->stand_in(words);
  }
}

void Evaluator::note_reply(std::string_view text) {
  if (!reads_replies_) return;
  reply_words_ = words_of(text);
  reply_digits_ = digits_in(text);
}

bool Evaluator::holds_call(const Node& node) const {
  const CallCondition& wanted = node.condition->call;
  const SeenCalls& calls = node.calls;
  if (!wanted.same_input) return (wanted.last ? calls.in_row : calls.count) >= wanted.at_least;
  std::uint64_t input = calls.latest;
  std::int64_t count = 0;
  if (point_ == Point::before_tool) {
    if (pending_ == nullptr || (!node.tools.empty() && !node.tools.contains(pending_->name))) return false;
    input = input_of(*pending_);
    count = calls_of(*pending_) - 1;  // the step's earlier tries precede its last call
  }
  const auto same = calls.by_input.find(input);
  if (wanted.last) return count + (calls.latest == input ? calls.same_in_row : 0) >= wanted.at_least;
  return count + (same == calls.by_input.end() ? 0 : same->second) >= wanted.at_least;
}

bool Evaluator::holds_reply(const Node& node) const {
  if (node.phrases && !node.phrases->stand_in(reply_words_)) return false;
  return reply_digits_ >= node.condition->digits;
}

bool Evaluator::holds_model(const Node& node) const {
  if (node.phrases && !node.phrases->stand_in(model_words_)) return false;
  const auto& over = node.condition->input_tokens_over;
  return !over || (tokens_ && *tokens_ > *over);
}

bool Evaluator::holds(std::size_t index) const {
  const Node& node = nodes_[index];
  const auto each = [&](std::size_t inner) { return holds(inner); };
  switch (node.condition->kind) {
    case Condition::Kind::all: return std::all_of(node.inner.begin(), node.inner.end(), each);
    case Condition::Kind::any: return std::any_of(node.inner.begin(), node.inner.end(), each);
    case Condition::Kind::negation: return !holds(node.inner[0]);
    case Condition::Kind::call: return holds_call(node);
    case Condition::Kind::no_call: return !node.seen;
    case Condition::Kind::request: return node.seen;
    case Condition::Kind::reply: return holds_reply(node);
    case Condition::Kind::model: return holds_model(node);
  }
  return false;
}

std::optional<bool> Evaluator::catches(const model::Run& run, const std::function<bool()>& expired) {
  start();
  note_request(run.user_request);
  std::size_t looked = 0;
  for (const model::Step& step : run.steps) {
    if (expired && ++looked % kStepsBetweenLooks == 0 && expired()) return std::nullopt;
    if (step.kind == model::StepKind::user) note_request(said_by_user(step));
    if (step.kind == model::StepKind::model || step.input_tokens) {
      model_words_ = words_of(model::present(step.model) ? step.model : run.model);
      tokens_ = step.input_tokens;
      if (point_ == Point::before_model && holds()) return true;
    }
    if (step.kind == model::StepKind::model && said_something(step.output)) {
      note_reply(step.output);
      if (point_ == Point::before_reply && holds()) return true;
    }
    if (!is_call(step)) continue;
    pending_ = &step;
    if (point_ == Point::before_tool && holds()) return true;
    pending_ = nullptr;
    note_call(step);
    if (point_ == Point::after_tool && holds()) return true;
  }
  return at_end(run);
}

bool Evaluator::at_end(const model::Run& run) {
  if (point_ == Point::before_reply) {
    const auto last_call = std::find_if(run.steps.rbegin(), run.steps.rend(), is_call);
    const bool said_since = std::any_of(run.steps.rbegin(), last_call, [](const model::Step& step) {
      return step.kind == model::StepKind::model && said_something(step.output);
    });
    if (said_something(run.outcome))
      note_reply(run.outcome);
    else if (!said_since)
      note_reply({});
    return holds();
  }
  if (point_ != Point::before_model || !run.input_tokens) return false;
  const auto is_model = [](const model::Step& step) { return step.kind == model::StepKind::model; };
  const bool counted =
      std::any_of(run.steps.begin(), run.steps.end(), [](const model::Step& step) { return step.input_tokens.has_value(); });
  // With several model calls, the run's count may be a sum.
  if (counted || std::count_if(run.steps.begin(), run.steps.end(), is_model) > 1) return false;
  const auto named =
      std::find_if(run.steps.rbegin(), run.steps.rend(), [&](const auto& step) { return is_model(step) && !step.model.empty(); });
  model_words_ = words_of(named == run.steps.rend() ? run.model : named->model);
  tokens_ = run.input_tokens;
  return holds();
}

}  // namespace runwarden::guardrail
