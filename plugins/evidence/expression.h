#pragma once

#include <string_view>
#include <vector>

namespace runwarden::plugins {

/// Works out the arithmetic that a text holds ("560 * 3 / 4", "{\"expression\": \"2 ** 10\"}"): each longest run of numbers, signs and
/// brackets with at least one sign between numbers, and the steps on the way to it, before it. Dates, versions and telephone numbers are
/// none: a sign without blanks beside it counts only where it is no "." and, unless another sign precedes it, no "-" or "/". At most 16
/// results, replacing `out`; what divides by zero or is not a number is left out. Linear; any thread.
void work_out(std::string_view text, std::vector<double>& out);

/// True when one of the results is the number that the figure ("93.33") is, rounded to its decimals.
[[nodiscard]] bool comes_to(const std::vector<double>& results, double number, std::string_view figure);

}  // namespace runwarden::plugins
