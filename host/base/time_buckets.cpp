#include "base/time_buckets.h"

#include <algorithm>
#include <array>

namespace runwarden {
namespace {

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::array<std::int64_t, 11> kWidths = {5 * kSecond, 15 * kSecond, kMinute,   5 * kMinute, 15 * kMinute, kHour,
                                                  3 * kHour,   6 * kHour,    12 * kHour, kDay,       7 * kDay};

std::int64_t floor_to(std::int64_t time_ms, std::int64_t width_ms) {
  const std::int64_t rest = time_ms % width_ms;
  return time_ms - (rest < 0 ? rest + width_ms : rest);
}

TimeBuckets of_width(std::int64_t from_ms, std::int64_t until_ms, std::int64_t width_ms) {
  const std::int64_t first = floor_to(from_ms, width_ms);
  const std::int64_t last = floor_to(until_ms - 1, width_ms);
  return {first, width_ms, static_cast<std::size_t>((last - first) / width_ms) + 1};
}

}  // namespace

TimeBuckets time_buckets(std::int64_t from_ms, std::int64_t until_ms, std::size_t wanted) {
  const auto parts = static_cast<std::int64_t>(std::clamp<std::size_t>(wanted, 1, kMostBuckets));
  const std::int64_t part_ms = (until_ms - from_ms + parts - 1) / parts;
  for (const std::int64_t width_ms : kWidths) {
    const TimeBuckets buckets = of_width(from_ms, until_ms, width_ms);
    if (width_ms >= part_ms && buckets.count <= kMostBuckets) return buckets;
  }
  return of_width(from_ms, until_ms, kWidths.back());
}

}  // namespace runwarden
