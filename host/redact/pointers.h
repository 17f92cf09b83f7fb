// Matches JSON Pointer patterns (RFC 6901 with `*` for one level and `**` for any number) all at once during a walk over a document.
// Built once, then read by any thread. The cost of a step does not depend on the document.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/redact_settings.h"

namespace runwarden::redact {

class Pointers {
 public:
  // The progress of each pattern at one value of a document.
  class State {
   public:
    State() = default;
    explicit State(std::size_t words) : words_(words) {
      if (words > kInline) more_.resize(words);
    }
    std::size_t words() const { return words_; }
    std::uint64_t& operator[](std::size_t word) { return words_ > kInline ? more_[word] : few_[word]; }
    std::uint64_t operator[](std::size_t word) const { return words_ > kInline ? more_[word] : few_[word]; }

   private:
    static constexpr std::size_t kInline = 2;
    std::size_t words_ = 0;
    std::array<std::uint64_t, kInline> few_{};
    std::vector<std::uint64_t> more_;  // used instead when there are many patterns
  };
  // Whether any pattern can match below.
  static bool any(const State& state);

  // Adds the pattern for documents of that kind. For events and spans, a pattern for a run's steps or members applies to the members from
  // which they are built.
  void add(std::string_view pattern, std::size_t rule, model::DocumentKind kind);

  bool empty() const { return parts_.empty(); }
  State start() const;
  // Computes the state at the member or element of that name. Returns the rule whose pattern ends there, if any.
  std::optional<std::size_t> step(const State& from, std::string_view name, State& to) const;

 private:
  struct Part {
    enum class Is : std::uint8_t { name, any, deep, end };
    Is is = Is::end;
    std::vector<std::string> names;
    std::size_t rule = 0;
  };

  void add_parts(std::vector<Part> parts, std::size_t rule);
  void enter(State& state, std::size_t part) const;

  std::vector<Part> parts_;  // the parts of all patterns, each pattern with an end part
  std::vector<std::size_t> begins_;
  std::vector<std::size_t> ends_;
};

}  // namespace runwarden::redact
