#include "base/time_buckets.h"

#include <gtest/gtest.h>

namespace runwarden {
namespace {

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kHour = 3600 * kSecond;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kMidnight = 20'000 * kDay;

TEST(TimeBuckets, WidthIsRoundedUpToThoseThereAre) {
  const auto width = [](std::int64_t span_ms, std::size_t wanted) { return time_buckets(kMidnight, kMidnight + span_ms, wanted).width_ms / kSecond; };
  EXPECT_EQ(width(60 * kSecond, 60), 5);
  EXPECT_EQ(width(5 * 60 * kSecond, 60), 5);
  EXPECT_EQ(width(5 * 60 * kSecond + 1, 60), 15);
  EXPECT_EQ(width(kHour, 60), 60);
  EXPECT_EQ(width(3 * kHour, 60), 300);
  EXPECT_EQ(width(kDay, 60), 3600);
  EXPECT_EQ(width(7 * kDay, 60), 3 * 3600);
  EXPECT_EQ(width(30 * kDay, 60), 12 * 3600);
  EXPECT_EQ(width(90 * kDay, 60), 7 * 86400);
  EXPECT_EQ(width(400 * kDay, 1), 7 * 86400) << "there is no wider one";
}

TEST(TimeBuckets, BeginOnAMultipleAndHoldTheWholeSpan) {
  const TimeBuckets even = time_buckets(kMidnight, kMidnight + kHour, 60);
  EXPECT_EQ(even.from_ms, kMidnight);
  EXPECT_EQ(even.count, 60U);
  const TimeBuckets odd = time_buckets(kMidnight + 1, kMidnight + kHour + 1, 60);
  EXPECT_EQ(odd.from_ms, kMidnight);
  EXPECT_EQ(odd.count, 61U);
  EXPECT_GE(odd.end_ms(), kMidnight + kHour + 1);
}

TEST(TimeBuckets, AreNeverMoreThanNinety) {
  for (std::int64_t offset = 0; offset < 7; ++offset) {
    for (const std::int64_t span : {60 * kSecond, 90 * 5 * kSecond, kHour + 1, 90 * kHour, 400 * kDay}) {
      EXPECT_LE(time_buckets(kMidnight + offset * 1234, kMidnight + offset * 1234 + span, kMostBuckets).count, kMostBuckets) << span;
    }
  }
}

TEST(TimeBuckets, BeforeNineteenSeventyToo) {
  const TimeBuckets buckets = time_buckets(-1, 1, 1);
  EXPECT_EQ(buckets.from_ms, -5000);
  EXPECT_EQ(buckets.count, 2U);
}

}  // namespace
}  // namespace runwarden
