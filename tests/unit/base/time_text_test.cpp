#include "base/time_text.h"

#include <gtest/gtest.h>

namespace runwarden {
namespace {

TEST(TimeText, ReadsRfc3339AndWritesUtcMilliseconds) {
  const std::pair<const char*, const char*> table[] = {
      {"2026-11-20T15:00:00Z", "2026-11-20T15:00:00.000Z"},        {"2026-11-20T15:00:00.1234567Z", "2026-11-20T15:00:00.123Z"},
      {"2026-11-20T15:00:00.5+02:00", "2026-11-20T13:00:00.500Z"}, {"2026-11-20t15:00:00-05:30", "2026-11-20T20:30:00.000Z"},
      {"2024-02-29 00:00:00z", "2024-02-29T00:00:00.000Z"},        {"2026-11-20T15:00:00+0200", "2026-11-20T13:00:00.000Z"},
      {"1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"},    {"2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"},
      {"2026-11-20T15:00Z", "2026-11-20T15:00:00.000Z"},           {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"},
  };
  for (const auto& [in, out] : table) {
    const auto time = parse_time(in);
    ASSERT_TRUE(time) << in;
    EXPECT_EQ(format_time(*time), out) << in;
  }
}

TEST(TimeText, RefusesWhatIsNoTime) {
  for (const char* text : {"", "yesterday", "2026-11-20", "2026-11-20T15:00:00", "2026-13-01T00:00:00Z", "2025-02-29T00:00:00Z",
                           "2026-11-20T24:00:00Z", "2026-11-20T15:60:00Z", "2026-11-20T15:00:61Z", "2026-11-20T15:00:00.Z",
                           "2026-11-20T15:00:00Zx", "2026-11-20T15:00:00+25:00", "1700000000", "2026-11-20T15:00:00 +02:00"}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
}

TEST(TimeText, OfAYearBefore1_IsRefused) {
  EXPECT_FALSE(parse_time("0000-12-31T23:59:59.999Z"));
  EXPECT_FALSE(parse_time("0000-01-01T00:00:00Z"));
}

TEST(TimeText, AnOffsetThatLeavesTheYears1To9999_IsRefused) {
  EXPECT_FALSE(parse_time("9999-12-31T23:59:59-00:01"));
  EXPECT_FALSE(parse_time("9999-12-31T23:59:60Z"));
  EXPECT_FALSE(parse_time("0001-01-01T00:00:00+00:01"));
  EXPECT_EQ(format_time(*parse_time("9999-12-31T23:59:59.999Z")), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(format_time(*parse_time("0001-01-01T00:00:00Z")), "0001-01-01T00:00:00.000Z");
}

TEST(TimeText, WritesATimeBeyondTheYears1To9999_AsTheNearestInside) {
  EXPECT_EQ(format_time(INT64_MAX), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(format_time(INT64_MIN), "0001-01-01T00:00:00.000Z");
}

}  // namespace
}  // namespace runwarden
