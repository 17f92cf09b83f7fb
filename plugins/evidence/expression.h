#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/run_view.h"

namespace runwarden::plugins {

/// Works out the arithmetic in a text ("560 * 3 / 4", "35 x 28.50", "{\"expression\": \"2 ** 10\"}"): each longest run of numbers,
/// operators and brackets with at least one operator between numbers, preceded by its intermediate results. Skips dates, versions and
/// telephone numbers: an operator without blanks beside it counts only if it is not "." and, unless another operator precedes it, not "-"
/// or "/". At most 16 results, which replace `out`; division by zero and results that are not numbers are left out. Linear; any thread.
void work_out(std::string_view text, std::vector<double>& out);

/// As work_out(), for a message: "(2,480 - 560) / 80", with commas between thousands.
void work_out_told(std::string_view text, std::vector<double>& out);

/// True when one of the results, rounded to the decimals of the figure ("93.33"), is the number that the figure states.
[[nodiscard]] bool comes_to(const std::vector<double>& results, double number, std::string_view figure);

/// The arithmetic that an agent does before its user and calls approximate: "(0 - 32) * 5/9 = -160/9 ≈ -17.78". Keeps the first few
/// workings of a run; what they start from is not checked. Views into the run's texts. One owner.
class RoughWork {
 public:
  void clear();

  /// Adds the workings in the agent's messages up to this step, and in the outcome. Each step is read once. Linear.
  void hear(const RunView& run, std::size_t step);

  /// True when a calculation starts from the figure, passes it or reaches it.
  [[nodiscard]] bool holds(std::string_view figure) const;

 private:
  void add(std::string_view text);

  std::vector<std::string_view> workings_;  // each with its result
  std::size_t upto_ = 0;
  bool outcome_heard_ = false;
};

}  // namespace runwarden::plugins
