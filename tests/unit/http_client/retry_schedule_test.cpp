#include "http_client/retry_schedule.h"

#include <gtest/gtest.h>

namespace runwarden::http_client {
namespace {

const std::vector<std::int64_t> kDelays{5'000, 300'000};

TEST(RetrySchedule, WalksTheDelaysAndEnds) {
  EXPECT_EQ(next_attempt_ms(kDelays, 1, 0, {}, 1000), 6000);
  EXPECT_EQ(next_attempt_ms(kDelays, 2, 0, {}, 1000), 301'000);
  EXPECT_FALSE(next_attempt_ms(kDelays, 3, 0, {}, 1000));
  EXPECT_FALSE(next_attempt_ms({}, 1, 0, {}, 1000)) << "without delays there is one attempt";
}

TEST(RetrySchedule, ChanceAddsUpToAFifth) {
  EXPECT_EQ(next_attempt_ms(kDelays, 1, 0.5, {}, 0), 5500);
  EXPECT_LT(*next_attempt_ms(kDelays, 1, 0.999, {}, 0), 6000);
}

TEST(RetrySchedule, RetryAfterCountsWhereItIsLonger_ToADay) {
  EXPECT_EQ(next_attempt_ms(kDelays, 1, 0, 60'000, 0), 60'000);
  EXPECT_EQ(next_attempt_ms(kDelays, 2, 0, 60'000, 0), 300'000);
  EXPECT_EQ(next_attempt_ms(kDelays, 1, 0, 99 * 86'400'000LL, 0), 86'400'000);
  EXPECT_FALSE(next_attempt_ms(kDelays, 3, 0, 60'000, 0)) << "the last attempt stays the last";
}

TEST(RetryAfter, SecondsOrADate) {
  EXPECT_EQ(read_retry_after("120", 0), 120'000);
  EXPECT_EQ(read_retry_after("99999999", 0), 86'400'000);
  EXPECT_EQ(read_retry_after("99999999999999999999999", 0), 86'400'000);
  EXPECT_EQ(read_retry_after("-5", 0), 0);
  const std::int64_t now_ms = 1'700'000'000'000;  // Tue, 14 Nov 2023 22:13:20 GMT
  EXPECT_EQ(read_retry_after("Tue, 14 Nov 2023 22:14:20 GMT", now_ms), 60'000);
  EXPECT_EQ(read_retry_after("Tue, 14 Nov 2023 22:12:20 GMT", now_ms), 0);
  EXPECT_FALSE(read_retry_after("", 0));
  EXPECT_FALSE(read_retry_after("soon", 0));
}

}  // namespace
}  // namespace runwarden::http_client
