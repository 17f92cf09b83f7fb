#include "base/rate.h"

#include <algorithm>
#include <cmath>

namespace runwarden {
namespace {

constexpr double kZ = 1.959963984540054;  // the 97.5 % quantile of the standard normal distribution

}  // namespace

Interval share_of(const Proportion& proportion) {
  if (proportion.runs == 0) return {0, 0, 1};
  const double n = static_cast<double>(proportion.runs);
  const double p = std::min(static_cast<double>(proportion.affected) / n, 1.0);
  const double centre = p + kZ * kZ / (2 * n);
  const double spread = kZ * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
  const double scale = 1 + kZ * kZ / n;
  // At both ends the exact result is the bound itself; avoid rounding errors.
  const double low = p == 0 ? 0 : std::max((centre - spread) / scale, 0.0);
  const double high = p == 1 ? 1 : std::min((centre + spread) / scale, 1.0);
  return {p, low, high};
}

Interval difference_of(const Proportion& left, const Proportion& right) {
  const Interval a = share_of(left);
  const Interval b = share_of(right);
  const double value = a.value - b.value;
  const double down = std::hypot(a.value - a.low, b.high - b.value);
  const double up = std::hypot(a.high - a.value, b.value - b.low);
  return {value, std::max(value - down, -1.0), std::min(value + up, 1.0)};
}

RateVerdict compare_rates(const Proportion& left, const Proportion& right) {
  if (left.runs < kFewestComparedRuns || right.runs < kFewestComparedRuns) return RateVerdict::too_few;
  const Interval difference = difference_of(left, right);
  if (difference.low > 0) return RateVerdict::worse;
  return difference.high < 0 ? RateVerdict::better : RateVerdict::no_difference;
}

const char* name(RateVerdict verdict) {
  switch (verdict) {
    case RateVerdict::worse: return "worse";
    case RateVerdict::better: return "better";
    case RateVerdict::no_difference: return "no_difference";
    case RateVerdict::too_few: break;
  }
  return "too_few";
}

Trend trend_of(std::uint64_t first_half, std::uint64_t second_half) {
  if (first_half + second_half < kFewestTrendFailures) return Trend::too_few;
  const Interval part = share_of({second_half, first_half + second_half});
  if (part.low > 0.5) return Trend::rising;
  return part.high < 0.5 ? Trend::falling : Trend::steady;
}

const char* name(Trend trend) {
  switch (trend) {
    case Trend::rising: return "rising";
    case Trend::falling: return "falling";
    case Trend::steady: return "steady";
    case Trend::too_few: break;
  }
  return "too_few";
}

}  // namespace runwarden
