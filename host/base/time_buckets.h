// Divides a span of time into buckets of a round width. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace runwarden {

constexpr std::size_t kMostBuckets = 90;

// Buckets one after the other: the first begins at a multiple of the width, the last holds the end of the span.
struct TimeBuckets {
  std::int64_t from_ms = 0;
  std::int64_t width_ms = 0;
  std::size_t count = 0;

  std::int64_t end_ms() const { return from_ms + width_ms * static_cast<std::int64_t>(count); }
};

// From inclusive, until exclusive; until > from, at most 400 days later. `wanted` is 1 to kMostBuckets: the width is the span's part of
// that many, rounded up to 5 s, 15 s, 1, 5 or 15 min, 1, 3, 6 or 12 h, 1 or 7 d. As the first bucket begins before the span there may be
// one more than wanted, but never more than kMostBuckets.
TimeBuckets time_buckets(std::int64_t from_ms, std::int64_t until_ms, std::size_t wanted);

}  // namespace runwarden
