// Divides a span of time into buckets of a round width. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace runwarden {

constexpr std::size_t kMostBuckets = 90;

// Adjacent buckets. The first begins at a multiple of the width; the last contains the end of the span.
struct TimeBuckets {
  std::int64_t from_ms = 0;
  std::int64_t width_ms = 0;
  std::size_t count = 0;

  std::int64_t end_ms() const { return from_ms + width_ms * static_cast<std::int64_t>(count); }
};

// `from_ms` is inclusive, `until_ms` exclusive and at most 400 days later. `wanted` is 1 to kMostBuckets. The width is the span divided by
// `wanted`, rounded up to 5 s, 15 s, 1, 5 or 15 min, 1, 3, 6 or 12 h, 1 or 7 d. The first bucket may begin before the span, so there may be
// one more bucket than wanted, but never more than kMostBuckets.
TimeBuckets time_buckets(std::int64_t from_ms, std::int64_t until_ms, std::size_t wanted);

}  // namespace runwarden
