#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/reading.h"
#include "common/run_view.h"

namespace runwarden::plugins {

/// What is known of a doubtful verdict, as numbers in a fixed order: what a learned confidence weighs. Yes is 1, no is 0; counts end at a few,
/// so that how long a run is tells little. Names are kept where somebody asked for an explanation. One owner.
class Measures {
 public:
  void clear(bool named);
  void add(std::string_view name, double value);

  [[nodiscard]] const std::vector<float>& values() const { return values_; }
  /// "name=value" of each that is not 0, with blanks between; empty without names.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// The names, in order, where they are kept.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  bool named_ = false;
  std::vector<float> values_;
  std::vector<std::string> names_;
  std::string text_;
};

/// Adds what the sentences and claims of a message are. `prefix` begins the names. Linear.
void measure_message(const Reading& reading, std::string_view prefix, Measures& out);

/// Adds how much a message shares with the user's turns, and of that how much with calls that went through and with those that did not: words
/// by their stems, and words with digits. `failed` tells of each step whether it gave nothing or failed; `changes` whether its tool changes
/// something. Linear.
void measure_shared_words(const RunView& run, std::string_view message, const std::vector<bool>& failed, const std::vector<bool>& changes,
                          Measures& out);

/// Adds what the user's turns are like: whether the last asks a question, and how many there are.
void measure_user(const RunView& run, Measures& out);

}  // namespace runwarden::plugins
