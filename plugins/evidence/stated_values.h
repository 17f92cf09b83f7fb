#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace runwarden::plugins {

/// A figure that a text states.
struct StatedValue {
  std::string_view label;  // what it is the value of, where that precedes it: "Average rating"
  std::string_view text;   // as it stands, with its sign: "$1,250.00", "4.9", "30%"
  double number = 0;
  bool money = false;
  bool percent = false;
  bool rounded = false;      // "~30"
  std::size_t decimals = 0;  // behind the decimal sign
};

/// Reads a figure that begins at `at`, a digit or a sign of money before one; false when there is none, or when it is part of a date, a
/// time, an id or a version.
[[nodiscard]] bool read_figure(std::string_view text, std::size_t at, StatedValue& value);

/// Collects what is stated as a label and its figure, one a line or member: "- Rating: 4.9/5", "| Stock | 12 |", "\"total\": 45".
/// Replaces `out`; the views point into `text`. Linear.
void collect_labelled_values(std::string_view text, std::vector<StatedValue>& out);

/// How a short text answers with one figure.
enum class PlainAnswer : std::uint8_t { kNone, kBare, kSentence };

/// Tells whether a text is no more than an answer with a figure or two, bare ("98.75", "Final answer: $65") or as one sentence ("Shipping
/// is $7.95."), and collects the figures; replaces `out`. Linear.
[[nodiscard]] PlainAnswer read_plain_answer(std::string_view text, std::vector<StatedValue>& out);

}  // namespace runwarden::plugins
