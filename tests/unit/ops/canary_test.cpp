#include "ops/canary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/fake_clock.h"

namespace runwarden::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct CanaryTest : ::testing::Test {
  test::FakeClock clock;
  std::vector<std::function<void(std::string)>> sent;
  std::vector<std::string> told;
  std::shared_ptr<Canary> canary = Canary::make([this](auto done) { sent.push_back(std::move(done)); },
                                                {.interval_ms = 30'000, .retry_ms = 1'000, .timeout_ms = 5'000}, clock);

  void check() {
    canary->check([this](const std::string& fault) { told.push_back(fault); });
  }
};

TEST_F(CanaryTest, WhoeverAsksMeanwhile_SharesTheOneThatIsUnderWay) {
  check();
  check();
  EXPECT_THAT(sent, SizeIs(1));
  EXPECT_THAT(told, IsEmpty());
  sent[0]("");
  EXPECT_THAT(told, ElementsAre("", ""));
}

TEST_F(CanaryTest, OneIsSentAnIntervalAtMost) {
  check();
  sent[0]("");
  clock.advance_ms(29'999);
  check();
  EXPECT_THAT(sent, SizeIs(1));
  EXPECT_THAT(told, ElementsAre("", ""));
  clock.advance_ms(1);
  check();
  EXPECT_THAT(sent, SizeIs(2));
  EXPECT_THAT(told, SizeIs(2)) << "the old outcome is told no longer";
}

TEST_F(CanaryTest, AfterAFault_TheNextIsSentSooner) {
  check();
  sent[0]("commit: no room");
  clock.advance_ms(999);
  check();
  EXPECT_THAT(told, ElementsAre("commit: no room", "commit: no room"));
  EXPECT_THAT(sent, SizeIs(1));
  clock.advance_ms(1);
  check();
  ASSERT_THAT(sent, SizeIs(2));
  sent[1]("");
  EXPECT_EQ(told.back(), "");
}

TEST_F(CanaryTest, NobodyWaitsLongerThanTheBound_AndNoSecondOneIsSentMeanwhile) {
  check();
  clock.advance_ms(3'000);
  check();
  canary->tick();
  EXPECT_THAT(told, IsEmpty());
  clock.advance_ms(2'000);
  canary->tick();
  EXPECT_THAT(told, ElementsAre(HasSubstr("has not completed for 5000 ms")));
  check();
  EXPECT_THAT(told, SizeIs(2)) << "at once";
  clock.advance_ms(3'000);
  canary->tick();
  EXPECT_THAT(told, SizeIs(3));
  EXPECT_THAT(sent, SizeIs(1));
  sent[0]("");
  EXPECT_THAT(told, SizeIs(3)) << "once each";
  clock.advance_ms(30'000);
  check();
  EXPECT_THAT(sent, SizeIs(2));
}

TEST_F(CanaryTest, AfterAReload_WhatWasKnownIsForgotten) {
  check();
  sent[0]("");
  canary->invalidate();
  check();
  ASSERT_THAT(sent, SizeIs(2));
  canary->invalidate();  // while it is under way: it may have gone through what was replaced
  sent[1]("");
  EXPECT_THAT(told, ElementsAre("", ""));
  check();
  EXPECT_THAT(sent, SizeIs(3));
}

TEST_F(CanaryTest, ComingBackAtOnceIsFine) {
  auto quick = Canary::make([](const auto& done) { done("no"); }, {}, clock);
  std::string fault;
  quick->check([&](const std::string& why) { fault = why; });
  EXPECT_EQ(fault, "no");
}

}  // namespace
}  // namespace runwarden::ops
