#include "intake/otlp/trace.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "base/json_text.h"

namespace runwarden::intake::otlp {
namespace {

using model::SpanKind;

constexpr std::size_t kMostAncestors = 1'000;  // of one span that are examined for the order of steps
constexpr std::size_t kMostTied = 100;         // steps with the same start that are examined for one of them

SpanKind kind_named(std::string_view name) {
  const auto found = std::find(model::kSpanKinds.begin(), model::kSpanKinds.end(), name);
  return found == model::kSpanKinds.end() ? SpanKind::none : static_cast<SpanKind>(found - model::kSpanKinds.begin());
}

std::uint64_t unsigned_of(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::optional<SpanInTrace> read_span(const std::string& json) {
  SpanInTrace span;
  for (JsonMember& member : cut_json_members(json)) {
    const std::string& name = member.name;
    if (name == "spanId") {
      span.id = json_string_value(member.json);
    } else if (name == "parentSpanId") {
      span.parent_id = json_string_value(member.json);
    } else if (name == "spanName") {
      span.name = json_string_value(member.json);
    } else if (name == "scope") {
      span.scope = json_string_value(member.json);
    } else if (name == "from") {
      span.from = json_string_value(member.json);
    } else if (name == "spanKind") {
      span.kind = kind_named(json_string_value(member.json));
    } else if (name == "root") {
      span.is_root = member.json == "true";
    } else if (name == "ok") {
      span.ok = member.json == "true";
    } else if (name == "spoke") {
      span.spoke = member.json == "true";
    } else if (name == "startNs") {
      span.start_ns = unsigned_of(json_string_value(member.json));
    } else if (name == "endNs") {
      span.end_ns = unsigned_of(json_string_value(member.json));
    } else if (name == "metadata") {
      span.metadata = cut_json_members(member.json);
    } else if (name != "type") {
      if (name == "status") span.failed = member.json == "\"failed\"";
      span.members.push_back(std::move(member));
    }
  }
  if (span.id.empty()) return std::nullopt;
  return span;
}

}  // namespace

std::string_view SpanInTrace::attribute_of(std::string_view member) const {
  for (std::string_view rest = from; !rest.empty();) {
    const auto end = std::min(rest.find(' '), rest.size());
    const auto one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto equals = one.find('=');
    if (one.substr(0, equals) == member) return one.substr(equals + 1);
  }
  return {};
}

Trace::Trace(const std::vector<std::string>& spans) {
  read(spans);
  link_parents();
  find_callers();
  merge_calls();
  find_steps();
  find_root();
  find_turns();
  split_steps();
}

// Of several versions of a span the last one counts, except that a copy made while it was running never replaces one of its end.
void Trace::read(const std::vector<std::string>& spans) {
  for (const std::string& json : spans) {
    auto span = read_span(json);
    if (!span) continue;
    const auto [known, is_new] = by_id_.try_emplace(span->id, spans_.size());
    if (is_new) {
      spans_.push_back(std::move(*span));
    } else if (span->end_ns != 0 || spans_[known->second].end_ns == 0) {
      spans_[known->second] = std::move(*span);
    }
  }
}

void Trace::link_parents() {
  for (SpanInTrace& span : spans_) {
    const auto parent = by_id_.find(span.parent_id);
    if (parent != by_id_.end()) span.parent = parent->second;
  }
  cut_cycles();
}

// Takes their parents from spans that are ancestors of themselves, and orders the spans so that each comes after its parent.
void Trace::cut_cycles() {
  std::vector<std::size_t> reached_from(spans_.size(), kNoSpan);  // the span from which the walk up came first
  std::vector<std::size_t> path;
  for (std::size_t from = 0; from < spans_.size(); ++from) {
    path.clear();
    std::size_t at = from;
    for (; at != kNoSpan && reached_from[at] == kNoSpan; at = spans_[at].parent) {
      reached_from[at] = from;
      path.push_back(at);
    }
    if (at != kNoSpan && reached_from[at] == from) {
      for (auto in_cycle = std::find(path.begin(), path.end(), at); in_cycle != path.end(); ++in_cycle) spans_[*in_cycle].parent = kNoSpan;
    }
    parents_first_.insert(parents_first_.end(), path.rbegin(), path.rend());
  }
}

void Trace::find_callers() {
  for (const std::size_t at : parents_first_) {
    const std::size_t parent = spans_[at].parent;
    if (parent != kNoSpan) spans_[at].caller = spans_[parent].is_step_or_agent() ? parent : spans_[parent].caller;
  }
}

bool Trace::has_only_model_span() const {
  const auto shows_more = [](const SpanInTrace& span) {
    return span.kind == SpanKind::tool || span.kind == SpanKind::agent || span.kind == SpanKind::structure;
  };
  return steps_.size() == 1 && std::none_of(spans_.begin(), spans_.end(), shows_more);
}

std::vector<std::size_t> Trace::speakers(std::size_t turn) const {
  if (root_ == kNoSpan || root_ == turn) return turn == kNoSpan ? std::vector<std::size_t>() : std::vector{turn};
  if (spans_[root_].kind == SpanKind::structure) return {root_};
  if (turn == kNoSpan) return {root_};
  return spans_[root_].is_turn ? std::vector{turn} : std::vector{turn, root_};
}

// Nested instrumentations report the same call twice: a model span in a model span, or a tool span in one of the same name.
bool Trace::is_told_before(std::size_t at) const {
  const std::size_t outer = spans_[at].caller;
  if (outer == kNoSpan || spans_[outer].kind != spans_[at].kind) return false;
  if (spans_[at].kind == SpanKind::model) return true;
  const std::string* const name = spans_[at].json("stepName");
  const std::string* const outer_name = spans_[outer].json("stepName");
  return name != nullptr && outer_name != nullptr && *name == *outer_name;
}

void Trace::merge_calls() {
  std::vector<std::size_t> depths(spans_.size(), 0);
  std::vector<std::size_t> inner;
  for (const std::size_t at : parents_first_) {
    if (spans_[at].caller != kNoSpan) depths[at] = depths[spans_[at].caller] + 1;
    if (spans_[at].is_step() && is_told_before(at)) inner.push_back(at);
  }
  // Of several attempts inside one call, the last is taken first: its outcome is that of the call.
  std::sort(inner.begin(), inner.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(depths[a], spans_[a].start_ns, a) > std::tuple(depths[b], spans_[b].start_ns, b);
  });
  for (const std::size_t at : inner) {
    spans_[at].is_merged = true;
    merge_into(spans_[at].caller, at);
  }
}

// Adds what only the inner span of a call tells. Its failure counts unless the outer one says OK, or what the model answered.
void Trace::merge_into(std::size_t outer_at, std::size_t inner_at) {
  SpanInTrace& outer = spans_[outer_at];
  const SpanInTrace& inner = spans_[inner_at];
  const bool tells_outcome = outer.failed || outer.ok || outer.spoke || outer.has_inner;
  outer.has_inner = true;
  if (inner.failed && !tells_outcome) {
    outer.failed = true;
    std::erase_if(outer.members, [](const JsonMember& member) { return member.name == "status"; });
  }
  const bool overcome = inner.failed && !outer.failed;
  const auto take = [&](const JsonMember& member, std::vector<JsonMember>& into) {
    if (find_json_member(into, member.name) != nullptr) return false;
    into.push_back(member);
    outer.taken.push_back({member.name, giver(inner_at, member.name)});
    return true;
  };
  for (const JsonMember& member : inner.members) {
    const bool of_outcome = member.name == "outputSummary" || member.name == "errorCode" || member.name == "errorMessage";
    if (of_outcome && overcome) continue;
    if (take(member, outer.members) && member.name == "outputSummary") outer.spoke = inner.spoke;
  }
  for (const JsonMember& member : inner.metadata) take(member, outer.metadata);
}

std::size_t Trace::giver(std::size_t at, std::string_view member) const {
  const auto& taken = spans_[at].taken;
  const auto found = std::find_if(taken.begin(), taken.end(), [&](const TakenMember& one) { return one.name == member; });
  return found == taken.end() ? at : found->from;
}

bool Trace::is_around(std::size_t outer, std::size_t inner) const {
  std::size_t looked = 0;
  for (std::size_t at = spans_[inner].parent; at != kNoSpan && ++looked < kMostAncestors; at = spans_[at].parent) {
    if (at == outer) return true;
  }
  return false;
}

// JavaScript's start times are whole milliseconds, so consecutive steps may share one. An exporter sends spans in the order in which they
// end. For steps with the same start, that is their order, except that an outer step must come before those inside it. End times do not
// help: each is the shared start plus the step's duration.
void Trace::put_outer_first() {
  for (std::size_t at = 1; at < steps_.size(); ++at) {
    std::size_t to = at;
    for (std::size_t before = at;
         before-- > 0 && at - before <= kMostTied && spans_[steps_[before]].start_ns == spans_[steps_[at]].start_ns;) {
      if (is_around(steps_[at], steps_[before])) to = before;
    }
    std::rotate(steps_.begin() + static_cast<std::ptrdiff_t>(to), steps_.begin() + static_cast<std::ptrdiff_t>(at),
                steps_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

void Trace::find_steps() {
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    if (spans_[i].is_step() && !spans_[i].is_merged) steps_.push_back(i);
  }
  sort_steps();
}

void Trace::sort_steps() {
  sort_by_start(steps_);
  put_outer_first();
}

void Trace::sort_by_start(std::vector<std::size_t>& spans) const {
  std::stable_sort(spans.begin(), spans.end(), [&](std::size_t a, std::size_t b) { return spans_[a].start_ns < spans_[b].start_ns; });
}

// The span without a parent; of several, the one that starts first. If none, a top span that covers all others and is not a step.
void Trace::find_root() {
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    if (spans_[i].is_root && (root_ == kNoSpan || spans_[i].start_ns < spans_[root_].start_ns)) root_ = i;
  }
  if (root_ != kNoSpan || spans_.empty()) return;
  std::uint64_t start = spans_[0].start_ns;
  std::uint64_t end = spans_[0].end_ns;
  for (const SpanInTrace& span : spans_) {
    start = std::min(start, span.start_ns);
    end = std::max(end, span.end_ns);
  }
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const SpanInTrace& span = spans_[i];
    if (span.parent == kNoSpan && !span.is_step() && span.start_ns <= start && span.end_ns >= end) {
      root_ = i;
      return;
    }
  }
}

// The spans of that kind that are inside no other of it, by start.
std::vector<std::size_t> Trace::outermost(SpanKind kind) {
  mark_inside(kind);
  std::vector<std::size_t> agents;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    if (spans_[i].agent == i) agents.push_back(i);
  }
  sort_by_start(agents);
  return agents;
}

// Marks spans with the outermost span of that kind around them, themselves included. What has lost its parent is somewhere inside the root.
void Trace::mark_inside(SpanKind kind) {
  if (root_ != kNoSpan && spans_[root_].kind == kind) spans_[root_].agent = root_;
  for (const std::size_t at : parents_first_) {
    const std::size_t around = spans_[at].parent != kNoSpan || spans_[at].is_root ? spans_[at].parent : root_;
    if (around != kNoSpan && spans_[around].agent != kNoSpan) {
      spans_[at].agent = spans_[around].agent;
    } else if (spans_[at].kind == kind) {
      spans_[at].agent = at;
    }
  }
}

void Trace::find_turns() {
  if (const auto agents = outermost(SpanKind::agent); !agents.empty()) return take_agents(agents);
  const auto structures = outermost(SpanKind::structure);
  if (structures.empty()) return;
  for (const std::size_t structure : structures) spans_[structure].is_turn = true;
  const bool is_root = root_ != kNoSpan && spans_[root_].kind == SpanKind::structure;
  turns_ = {is_root ? root_ : structures.front()};
}

// Which of these agents speak with the user: the main one and further runs of it; those that have no parent; and those before and after it
// that have the same request, or one's answer for a request. Another agent with a prompt of its own is a helper, which guards or makes
// titles.
void Trace::take_agents(const std::vector<std::size_t>& agents) {
  const std::size_t main = main_of(agents);
  const Requests requests = requests_of(agents);
  const Answers answers = agents.size() == 1 ? Answers() : answers_of(agents);
  const auto leading = leading_to(main, agents, requests, answers);
  const std::string* asked = nullptr;
  std::uint64_t busy_until_ns = 0;
  for (const std::size_t agent : agents) {
    SpanInTrace& span = spans_[agent];
    const std::string* const request = text_of(requests, agent);
    const bool goes_on = request == nullptr || (asked != nullptr && *request == *asked) || answers.contains(*request);
    if (!goes_on && !span.is_root && !is_same_agent(agent, main) && !leading.contains(agent)) continue;
    span.is_turn = true;
    turns_.push_back(agent);
    if (!goes_on && asked != nullptr && span.start_ns >= busy_until_ns && !is_asked_around(agent)) {
      span.request = requests.at(agent);
      steps_.push_back(agent);
    }
    if (request != nullptr) asked = request;
    busy_until_ns = std::max(busy_until_ns, span.end_ns);
  }
  sort_steps();
}

// The first agent that uses tools; if none does, the one that takes longest.
std::size_t Trace::main_of(const std::vector<std::size_t>& agents) const {
  std::unordered_set<std::size_t> with_tools;
  for (const std::size_t step : steps_) {
    if (spans_[step].kind == SpanKind::tool) with_tools.insert(spans_[step].agent);
  }
  const auto first = std::find_if(agents.begin(), agents.end(), [&](std::size_t agent) { return with_tools.contains(agent); });
  if (first != agents.end()) return *first;
  const auto duration_ns = [&](std::size_t agent) { return spans_[agent].end_ns - std::min(spans_[agent].start_ns, spans_[agent].end_ns); };
  return *std::max_element(agents.begin(), agents.end(), [&](std::size_t a, std::size_t b) { return duration_ns(a) < duration_ns(b); });
}

// True for two runs of one agent. What a span is called does not tell: spans of an SDK without names are all called alike.
bool Trace::is_same_agent(std::size_t a, std::size_t b) const {
  if (a == b) return true;
  const std::string* const name = spans_[a].has_given_name() ? spans_[a].meta("name") : nullptr;
  return name != nullptr && spans_[b].has_given_name() && *name == *spans_[b].meta("name");
}

// The agents before the main one that handed it their request, or whose answer is its request. Without a request of its own it goes on
// with that of the agent before it.
std::unordered_set<std::size_t> Trace::leading_to(std::size_t main, const std::vector<std::size_t>& agents, const Requests& requests,
                                                  const Answers& answers) const {
  std::unordered_set<std::size_t> leading;
  const std::string* wanted = text_of(requests, main);
  const auto leads = [&](std::size_t agent) {
    const std::string* const request = text_of(requests, agent);
    if (wanted == nullptr || (request != nullptr && *request == *wanted)) return true;
    const auto [from, to] = answers.equal_range(*wanted);
    return std::any_of(from, to, [&](const auto& answer) { return answer.second == agent; });
  };
  for (auto agent = std::make_reverse_iterator(std::find(agents.begin(), agents.end(), main)); agent != agents.rend(); ++agent) {
    if (!leads(*agent)) continue;
    leading.insert(*agent);
    wanted = text_of(requests, *agent);
  }
  return leading;
}

Trace::Requests Trace::requests_of(const std::vector<std::size_t>& agents) const {
  Requests requests;
  for (const std::size_t agent : agents) {
    if (spans_[agent].json("userRequestText") != nullptr) requests.emplace(agent, agent);
  }
  for (const std::size_t step : steps_) {
    if (spans_[step].json("userRequestText") != nullptr) requests.emplace(spans_[step].agent, step);
  }
  return requests;
}

const std::string* Trace::text_of(const Requests& requests, std::size_t agent) const {
  const auto found = requests.find(agent);
  return found == requests.end() ? nullptr : spans_[found->second].json("userRequestText");
}

Trace::Answers Trace::answers_of(const std::vector<std::size_t>& agents) const {
  Answers answers;
  for (const std::size_t agent : agents) {
    if (const std::string* const text = spans_[agent].json("outcomeSummary")) answers.emplace(*text, agent);
  }
  for (const std::size_t step : steps_) {
    const std::string* const text = spans_[step].spoke ? spans_[step].json("outputSummary") : nullptr;
    if (text != nullptr) answers.emplace(*text, spans_[step].agent);
  }
  return answers;
}

// True if a span around the agent has the request, of which the agents inside it are parts.
bool Trace::is_asked_around(std::size_t agent) const {
  std::size_t looked = 0;
  for (std::size_t at = spans_[agent].parent; at != kNoSpan && ++looked < kMostAncestors; at = spans_[at].parent) {
    if (spans_[at].json("userRequestText") != nullptr) return true;
  }
  return false;
}

void Trace::split_steps() {
  for (const std::size_t step : steps_) {
    const std::size_t agent = spans_[step].agent;
    (agent != kNoSpan && spans_[agent].is_turn ? steps_of_turns_ : other_steps_).push_back(step);
  }
  if (steps_of_turns_.empty()) std::swap(steps_of_turns_, other_steps_);
}

}  // namespace runwarden::intake::otlp
