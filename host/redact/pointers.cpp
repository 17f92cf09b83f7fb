#include "redact/pointers.h"

#include <algorithm>
#include <array>
#include <utility>

namespace runwarden::redact {
namespace {

constexpr std::size_t kBits = 64;

// The names of the same text in a step and in the events from which it may come.
using Names = std::vector<std::string>;
const std::array<Names, 4>& step_names() {
  static const std::array<Names, 4> names{
      {{"inputSummary", "input"}, {"outputSummary", "output", "text"}, {"errorMessage", "error"}, {"stepName", "name"}}};
  return names;
}

Names of_step(const std::string& name) {
  for (const Names& all : step_names()) {
    if (std::find(all.begin(), all.end(), name) != all.end()) return all;
  }
  return {name};
}

Names of_run(const std::string& name) {
  const bool from_text = name == "userRequestText" || name == "outcomeSummary";
  return from_text ? Names{name, "text"} : Names{name};
}

// The outcome of a trace may be what its last model step said, or the message of its failure.
Names of_trace(const std::string& name) {
  if (name == "outcomeSummary") return {name, "outputSummary", "errorMessage"};
  return name == "userRequestText" ? Names{name, "spanName"} : Names{name};
}

bool is_list_of_steps(const std::string& name) {
  return name == "steps" || name == "events";
}

}  // namespace

void Pointers::add(std::string_view pattern, std::size_t rule, model::DocumentKind kind) {
  std::vector<Part> parts;
  for (std::string& name : model::pointer_parts(pattern)) {
    if (name == "*") {
      parts.push_back({Part::Is::any, {}, 0});
    } else if (name == "**") {
      parts.push_back({Part::Is::deep, {}, 0});
    } else {
      parts.push_back({Part::Is::name, {std::move(name)}, 0});
    }
  }
  const bool names_a_list = parts.size() > 2 && parts[0].is == Part::Is::name && is_list_of_steps(parts[0].names[0]);
  if (kind == model::DocumentKind::run && names_a_list) {
    parts[0].names = {"steps"};
    if (parts[2].is == Part::Is::name) parts[2].names = of_step(parts[2].names[0]);
  }
  const bool span = kind == model::DocumentKind::span;
  const bool part_of_run = span || kind == model::DocumentKind::event;
  if (part_of_run && names_a_list) {
    parts.erase(parts.begin(), parts.begin() + (parts[1].is == Part::Is::deep ? 1 : 2));
    if (parts[0].is == Part::Is::name) parts[0].names = of_step(parts[0].names[0]);
  } else if (part_of_run && !parts.empty() && parts[0].is == Part::Is::name) {
    parts[0].names = span ? of_trace(parts[0].names[0]) : of_run(parts[0].names[0]);
  }
  add_parts(std::move(parts), rule);
}

void Pointers::add_parts(std::vector<Part> parts, std::size_t rule) {
  begins_.push_back(parts_.size());
  parts_.insert(parts_.end(), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
  ends_.push_back(parts_.size());
  parts_.push_back({Part::Is::end, {}, rule});
}

void Pointers::enter(State& state, std::size_t part) const {
  for (;; ++part) {
    state[part / kBits] |= std::uint64_t{1} << (part % kBits);
    if (parts_[part].is != Part::Is::deep) return;  // `**` may also match no level
  }
}

bool Pointers::any(const State& state) {
  for (std::size_t word = 0; word < state.words(); ++word) {
    if (state[word] != 0) return true;
  }
  return false;
}

Pointers::State Pointers::start() const {
  State state((parts_.size() + kBits - 1) / kBits);
  for (const std::size_t begin : begins_) enter(state, begin);
  return state;
}

std::optional<std::size_t> Pointers::step(const State& from, std::string_view name, State& to) const {
  to = State(from.words());
  if (!any(from)) return std::nullopt;
  for (std::size_t word = 0; word < from.words(); ++word) {
    for (std::uint64_t left = from[word]; left != 0; left &= left - 1) {
      const std::size_t at = word * kBits + static_cast<std::size_t>(__builtin_ctzll(left));
      const Part& part = parts_[at];
      if (part.is == Part::Is::deep) enter(to, at);
      if (part.is == Part::Is::any) enter(to, at + 1);
      const bool named = part.is == Part::Is::name && std::find(part.names.begin(), part.names.end(), name) != part.names.end();
      if (named) enter(to, at + 1);
    }
  }
  for (const std::size_t at : ends_) {
    if ((to[at / kBits] >> (at % kBits) & 1) != 0) return parts_[at].rule;
  }
  return std::nullopt;
}

}  // namespace runwarden::redact
