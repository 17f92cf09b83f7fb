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

/// What is known of a doubtful verdict, as numbers in a fixed order: what a learned confidence weighs. Yes is 1, no is 0; counts end at a
/// few, so that how long a run is tells little. Names are kept where somebody asked for an explanation. One owner.
class Measures {
 public:
  void clear(bool named);
  void add(std::string_view name, double value);
  void add_flag(std::string_view name, bool holds) { add(name, holds ? 1 : 0); }
  void add_count(std::string_view name, std::size_t count, std::size_t most = kMost) {
    add(name, static_cast<double>(std::min(count, most)));
  }
  void add_share(std::string_view name, std::size_t part, std::size_t whole) {
    add(name, whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole));
  }

  [[nodiscard]] const std::vector<float>& values() const { return values_; }
  /// "name=value" of each that is not 0, with blanks between; empty without names.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// The names, in order, where they are kept.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  static constexpr std::size_t kMost = 6;

  bool named_ = false;
  std::vector<float> values_;
  std::vector<std::string> names_;
  std::string text_;
};

/// Adds how sure the surest candidate is, which rules left one, and which silenced an alarm: of that step, or of any where it is kNoStep.
void measure_rules(const Verdict& verdict, std::span<const std::string_view> candidates, std::span<const std::string_view> silences,
                   std::size_t step, Measures& out);

/// Adds what the sentences and claims of a message are. `prefix` begins the names. Linear.
void measure_message(const Reading& reading, std::string_view prefix, Measures& out);

/// Adds how much a message shares with the user's turns, and of that how much with calls that went through and with those that did not:
/// words by their stems, and words with digits. `failed` tells of each step whether it gave nothing or failed; `changes` whether its tool
/// changes something. Linear.
void measure_shared_words(const RunView& run, std::string_view message, const std::vector<bool>& failed, const std::vector<bool>& changes,
                          Measures& out);

/// Adds what the user's turns are like: whether the last asks a question, and how many there are.
void measure_user(const RunView& run, Measures& out);

}  // namespace runwarden::plugins
