// Shares of runs with their 95 % confidence intervals, and the difference of two. Pure; any thread.
#pragma once

#include <cstdint>

namespace runwarden {

// A value with the bounds of its 95 % confidence interval.
struct Interval {
  double value = 0;
  double low = 0;
  double high = 0;
};

// `affected` of `runs`; affected <= runs.
struct Proportion {
  std::uint64_t affected = 0;
  std::uint64_t runs = 0;
};

// The share with Wilson's score interval (1927), within [0, 1]. For no runs: 0, with the interval [0, 1].
Interval share_of(const Proportion& proportion);

// share_of(left) - share_of(right) with Newcombe's hybrid score interval (Statistics in Medicine 17, 1998, method 10), within [-1, 1].
Interval difference_of(const Proportion& left, const Proportion& right);

// How the left rate compares with the right one.
enum class RateVerdict : std::uint8_t { worse, better, no_difference, too_few };
constexpr std::uint64_t kFewestComparedRuns = 20;  // on each side; below: too_few
RateVerdict compare_rates(const Proportion& left, const Proportion& right);
const char* name(RateVerdict verdict);

// How the failures in the second half of a window compare with those in the first.
enum class Trend : std::uint8_t { rising, falling, steady, too_few };
constexpr std::uint64_t kFewestTrendFailures = 5;  // in both halves together; below: too_few
// Rising or falling if the interval of the second half's share of the failures excludes one half.
Trend trend_of(std::uint64_t first_half, std::uint64_t second_half);
const char* name(Trend trend);

}  // namespace runwarden
