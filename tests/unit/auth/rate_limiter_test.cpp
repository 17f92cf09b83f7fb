#include "auth/rate_limiter.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "support/fake_clock.h"

namespace runwarden::auth {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

int taken(RateLimiter& limiter, model::TenantId tenant, int tries) {
  int count = 0;
  for (int i = 0; i < tries; ++i) count += limiter.take(tenant) ? 0 : 1;
  return count;
}

TEST(RateLimiter, WhenThereIsNoLimit_LetsAllThrough) {
  test::FakeClock clock;
  RateLimiter limiter({0, 5}, clock);
  EXPECT_EQ(taken(limiter, 1, 10'000), 10'000);
}

TEST(RateLimiter, WhenTheBurstIsSpent_SaysWhenTheNextTokenIsThere) {
  test::FakeClock clock;
  RateLimiter limiter({0.25, 3}, clock);
  EXPECT_EQ(taken(limiter, 1, 3), 3);
  EXPECT_EQ(limiter.take(1), 4);
  clock.advance_ns(3 * kSecondNs);
  EXPECT_EQ(limiter.take(1), 1);
  clock.advance_ns(kSecondNs);
  EXPECT_EQ(limiter.take(1), std::nullopt);
  EXPECT_EQ(limiter.take(1), 4);
}

TEST(RateLimiter, WhenItWaitedAsLongAsTold_LetsTheRequestThrough) {
  for (const double rate : {0.3, 0.7, 3.0, 7.0, 1000.0}) {
    test::FakeClock clock;
    RateLimiter limiter({rate, 1}, clock);
    ASSERT_EQ(limiter.take(1), std::nullopt);
    for (int i = 0; i < 50; ++i) {
      const auto wait_s = limiter.take(1);
      ASSERT_TRUE(wait_s.has_value()) << rate;
      clock.advance_ns(*wait_s * kSecondNs);
      ASSERT_EQ(limiter.take(1), std::nullopt) << rate;
    }
  }
}

TEST(RateLimiter, WhenRequestsComeAtTheRate_NoneIsRefused) {
  test::FakeClock clock;
  RateLimiter limiter({10, 1}, clock);
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(limiter.take(1), std::nullopt) << i;
    clock.advance_ns(kSecondNs / 10);
  }
}

TEST(RateLimiter, WithoutABurst_AllowsOneSecondsWorthAtOnce) {
  test::FakeClock clock;
  RateLimiter limiter({20, 0}, clock);
  EXPECT_EQ(taken(limiter, 1, 100), 20);
  RateLimiter slow({0.1, 0}, clock);
  EXPECT_EQ(taken(slow, 1, 100), 1);
}

TEST(RateLimiter, AfterALongRest_HoldsNoMoreThanTheBurst) {
  test::FakeClock clock;
  RateLimiter limiter({100, 5}, clock);
  EXPECT_EQ(taken(limiter, 1, 100), 5);
  clock.advance_ns(3600 * kSecondNs);
  EXPECT_EQ(taken(limiter, 1, 100), 5);
}

TEST(RateLimiter, WhenOneTenantIsLimited_OthersAreNot) {
  test::FakeClock clock;
  RateLimiter limiter({1, 2}, clock);
  EXPECT_EQ(taken(limiter, 1, 10), 2);
  EXPECT_EQ(taken(limiter, 2, 10), 2);
}

TEST(RateLimiter, WhenTheRateChanges_HoldsToTheNewOne) {
  test::FakeClock clock;
  RateLimiter limiter({1, 50}, clock);
  EXPECT_EQ(taken(limiter, 1, 10), 10);
  limiter.change({1, 3});
  EXPECT_EQ(taken(limiter, 1, 10), 3);
  limiter.change({0, 0});
  EXPECT_EQ(taken(limiter, 1, 10), 10);
}

TEST(RateLimiter, AsOneOfSeveralHosts_GivesOutItsPart) {
  test::FakeClock clock;
  std::size_t hosts = 3;
  RateLimiter limiter({12, 30}, clock, [&] { return hosts; });
  EXPECT_EQ(taken(limiter, 1, 100), 10);
  clock.advance_ns(kSecondNs);
  EXPECT_EQ(taken(limiter, 1, 100), 4);
  limiter.change({24, 60});
  clock.advance_ns(kSecondNs);
  EXPECT_EQ(taken(limiter, 1, 100), 8) << "a reload keeps the part";
  hosts = 1;
  clock.advance_ns(kSecondNs);
  EXPECT_EQ(taken(limiter, 1, 100), 24);
}

TEST(RateLimiter, WhenManyThreadsTake_GivesOutNoMoreThanThereIs) {
  test::FakeClock clock;
  RateLimiter limiter({1, 1000}, clock);
  std::atomic<int> count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { count += taken(limiter, 1, 500); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 1000);
}

}  // namespace
}  // namespace runwarden::auth
