// JSON Pointer patterns (RFC 6901 with `*` for one level and `**` for any number), followed all at once while a document is walked.
// Built once, then read by any thread. Each step costs the same, whatever the document says.
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
  // Where each pattern has got to, at one value of a document.
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
    std::vector<std::uint64_t> more_;  // instead, of many patterns
  };
  // Whether any pattern goes on below.
  static bool any(const State& state);

  // The pattern as it applies to documents of that kind: of an event, one of a run's steps or of a run's own members means the
  // members of the event that those are made from.
  void add(std::string_view pattern, std::size_t rule, model::DocumentKind kind);

  bool empty() const { return parts_.empty(); }
  State start() const;
  // The state at the member or element of that name. The rule whose pattern ends there, if one does.
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

  std::vector<Part> parts_;  // pattern after pattern, each with its end
  std::vector<std::size_t> begins_;
  std::vector<std::size_t> ends_;
};

}  // namespace runwarden::redact
