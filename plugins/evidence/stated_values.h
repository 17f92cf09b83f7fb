#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/facts.h"

namespace runwarden::plugins {

/// A figure that a text states.
struct StatedValue {
  std::string_view label;  // the words before it that name it: "Average rating"
  std::string_view text;   // as written, with its sign: "$1,250.00", "4.9", "30%"
  double number = 0;
  bool money = false;
  bool percent = false;
  bool degrees = false;
  bool rounded = false;      // "~30"
  std::size_t decimals = 0;  // digits after the decimal sign
};

/// Reads a figure that begins at `at` with a digit or with a currency sign before one; false when there is none, or when it is part of a
/// date, a time, an id or a version.
[[nodiscard]] bool read_figure(std::string_view text, std::size_t at, StatedValue& value, const FactWords& words = FactWords::shipped());

/// Collects pairs of a label and a figure, one per line or member: "- Rating: 4.9/5", "| Stock | 12 |", "\"total\": 45". Replaces `out`;
/// the views point into `text`. Linear.
void collect_labelled_values(std::string_view text, std::vector<StatedValue>& out, const FactWords& words = FactWords::shipped());

/// How a short text states one figure as its answer.
enum class PlainAnswer : std::uint8_t { kNone, kBare, kSentence };

/// Classifies a text that is only an answer with one or two figures: bare ("98.75", "Final answer: $65") or one sentence ("Shipping is
/// $7.95."). Collects the figures; replaces `out`. Linear.
[[nodiscard]] PlainAnswer read_plain_answer(std::string_view text, std::vector<StatedValue>& out,
                                            const FactWords& words = FactWords::shipped());

/// The answer that the last line of a text announces with one of the labels: "D" of "<answer>D</answer>", "400" of "Final answer: 400".
/// Empty for none, for an answer of more than a few words, and for one that is a sentence. A view into `text`. Linear.
[[nodiscard]] std::string_view announced_answer(std::string_view text, const std::vector<std::string>& labels);

}  // namespace runwarden::plugins
