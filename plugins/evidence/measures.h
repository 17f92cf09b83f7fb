#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/reading.h"
#include "common/run_view.h"
#include "common/verdict.h"

namespace runwarden::plugins {

/// What is known about a doubtful verdict, as numbers in a fixed order, for a learned confidence to weigh. True is 1, false is 0. Counts
/// are capped at a few, so the length of a run has little influence. Names are kept only for an explanation. One owner.
class Measures {
 public:
  void clear(bool named);
  /// Adds all of others.
  void append(const Measures& others);
  void add(std::string_view name, double value);
  void add_flag(std::string_view name, bool holds) { add(name, holds ? 1 : 0); }
  void add_count(std::string_view name, std::size_t count, std::size_t most = kMost) {
    add(name, static_cast<double>(std::min(count, most)));
  }
  /// How many more there are of some than of others, from -most to most.
  void add_difference(std::string_view name, std::size_t some, std::size_t others, double most) {
    add(name, std::clamp(static_cast<double>(some) - static_cast<double>(others), -most, most));
  }
  void add_share(std::string_view name, std::size_t part, std::size_t whole) {
    add(name, whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole));
  }

  [[nodiscard]] const std::vector<float>& values() const { return values_; }
  /// "name=value" for each that is not 0, separated by blanks; empty without names.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool named() const { return named_; }
  /// The names in order, if they are kept.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  static constexpr std::size_t kMost = 6;

  bool named_ = false;
  std::vector<float> values_;
  std::vector<std::string> names_;
  std::string text_;
};

/// Adds the highest confidence of any candidate, which rules left a candidate, and which silenced an alarm at `step`, or at any step if it
/// is kNoStep.
void measure_rules(const Verdict& verdict, std::span<const std::string_view> candidates, std::span<const std::string_view> silences,
                   std::size_t step, Measures& out);

/// Adds measures of a message's sentences and claims, with names that begin with `prefix`. Linear.
void measure_message(const Reading& reading, std::string_view prefix, Measures& out);

/// Adds how much a message shares with the user's turns, and how much of that with calls that succeeded and with calls that did not: words
/// by their stems, and words with digits. `failed` says for each step whether it failed or returned nothing, `changes` whether its tool
/// changes something. Linear.
void measure_shared_words(const RunView& run, std::string_view message, const std::vector<bool>& failed, const std::vector<bool>& changes,
                          Measures& out);

/// Adds measures of the user's turns: whether the first and the last ask a question, and how many there are.
void measure_user(const RunView& run, Measures& out);

}  // namespace runwarden::plugins
