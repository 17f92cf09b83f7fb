#include "auth/failed_tries.h"

#include <gtest/gtest.h>

#include "support/fake_clock.h"

namespace runwarden::auth {
namespace {

struct FailedTriesTest : ::testing::Test {
  void fail(const std::string& address, int times) {
    for (int i = 0; i < times; ++i) tries.failed(address);
  }

  test::FakeClock clock;
  FailedTries tries{clock};
};

TEST_F(FailedTriesTest, AfterTen_TheAddressWaitsForTheRestOfTheMinute) {
  fail("192.0.2.1", 9);
  EXPECT_FALSE(tries.wait_s("192.0.2.1"));
  clock.advance_ms(20'000);
  fail("192.0.2.1", 1);
  EXPECT_EQ(tries.wait_s("192.0.2.1"), 40);
  EXPECT_FALSE(tries.wait_s("192.0.2.2")) << "each address by itself";
  clock.advance_ms(39'999);
  EXPECT_EQ(tries.wait_s("192.0.2.1"), 1);
  clock.advance_ms(1);
  EXPECT_FALSE(tries.wait_s("192.0.2.1"));
  fail("192.0.2.1", 9);
  EXPECT_FALSE(tries.wait_s("192.0.2.1")) << "a window of its own";
}

TEST_F(FailedTriesTest, AnIpv6Network_CountsAsOne) {
  for (int i = 0; i < 10; ++i) tries.failed("2001:db8:0:1::" + std::to_string(i));
  EXPECT_TRUE(tries.wait_s("2001:db8:0:1:ffff::1"));
  EXPECT_FALSE(tries.wait_s("2001:db8:0:2::1"));
}

TEST_F(FailedTriesTest, BeyondTheMostAddresses_TheEldestIsForgotten) {
  fail("first", 10);
  clock.advance_ms(1);
  for (std::size_t i = 1; i < FailedTries::kMaxAddresses; ++i) tries.failed("a" + std::to_string(i));
  EXPECT_TRUE(tries.wait_s("first"));
  tries.failed("one more");
  EXPECT_FALSE(tries.wait_s("first"));
  fail("one more", 9);
  EXPECT_TRUE(tries.wait_s("one more"));
}

}  // namespace
}  // namespace runwarden::auth
