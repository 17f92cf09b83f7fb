#include "base/clock_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/time_text.h"
#include "support/fake_clock.h"

namespace runwarden {
namespace {

using Kind = ClockGuard::Event::Kind;

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kDayMs = 24 * kHourMs;
constexpr std::int64_t kNowMs = 1'790'000'000'000;

struct ClockGuardTest : ::testing::Test {
  test::FakeClock machine{kNowMs};
  ClockGuard guard{machine};

  void jump(std::int64_t ms) { machine.set_wall_ms(machine.wall_ms() + ms); }
  std::vector<Kind> kinds() {
    std::vector<Kind> kinds;
    for (const ClockGuard::Event& event : guard.take_events()) kinds.push_back(event.kind);
    return kinds;
  }
};

TEST_F(ClockGuardTest, WhileTheClocksAgree_IsTheMachinesTime) {
  for (int i = 0; i < 100; ++i) {
    machine.advance_ms(kHourMs);
    ASSERT_EQ(guard.wall_ms(), machine.wall_ms());
    ASSERT_FALSE(guard.in_doubt());
  }
  EXPECT_EQ(guard.monotonic_ns(), machine.monotonic_ns());
  EXPECT_THAT(kinds(), ::testing::IsEmpty());
}

TEST_F(ClockGuardTest, StepsOfAnHourOrLess_AreFollowed) {
  for (const std::int64_t step : {kHourMs, -kHourMs, kHourMs, kHourMs, kHourMs}) {
    jump(step);
    ASSERT_EQ(guard.wall_ms(), machine.wall_ms());
    ASSERT_FALSE(guard.in_doubt());
  }
}

TEST_F(ClockGuardTest, AnotherClockBeforeTheStart_IsNoJump) {
  jump(100 * kDayMs);
  guard.start({machine.wall_ms() - kHourMs, std::nullopt}, 7 * kDayMs);
  EXPECT_EQ(guard.wall_ms(), machine.wall_ms());
  EXPECT_FALSE(guard.in_doubt());
  EXPECT_THAT(kinds(), ::testing::IsEmpty());
}

struct JumpTest : ClockGuardTest, ::testing::WithParamInterface<std::int64_t> {};

TEST_P(JumpTest, AJumpOfMoreThanAnHour_LeavesTheTimeWhereItWasAndGoesOnFromThere) {
  jump(GetParam());
  EXPECT_EQ(guard.wall_ms(), kNowMs);
  EXPECT_TRUE(guard.in_doubt());
  machine.advance_ms(30 * kDayMs);
  EXPECT_EQ(guard.wall_ms(), kNowMs + 30 * kDayMs);
  const auto doubt = guard.doubt();
  ASSERT_TRUE(doubt);
  EXPECT_EQ(doubt->expected_ms, kNowMs + 30 * kDayMs);
  EXPECT_EQ(doubt->machine_ms, machine.wall_ms());

  const auto events = guard.take_events();
  ASSERT_EQ(events.size(), 1u) << "it is told once";
  EXPECT_EQ(events[0].kind, Kind::jumped);
  EXPECT_EQ(events[0].times.expected_ms, kNowMs);
  EXPECT_EQ(events[0].times.machine_ms, kNowMs + GetParam());
}

TEST_P(JumpTest, WhenTheClockIsSetRightAgain_TheDoubtEnds) {
  jump(GetParam());
  EXPECT_TRUE(guard.in_doubt());
  machine.advance_ms(kDayMs);
  jump(-GetParam() + 1234);
  EXPECT_EQ(guard.wall_ms(), kNowMs + kDayMs + 1234);
  EXPECT_FALSE(guard.in_doubt());
  EXPECT_FALSE(guard.doubt());
  EXPECT_THAT(kinds(), ::testing::ElementsAre(Kind::jumped, Kind::right_again));
}

TEST_P(JumpTest, WhenAnOperatorAccepts_TheMachinesTimeIsGoneBy) {
  jump(GetParam());
  EXPECT_TRUE(guard.in_doubt());
  machine.advance_ms(kDayMs);
  guard.accept();
  EXPECT_FALSE(guard.in_doubt());
  EXPECT_EQ(guard.wall_ms(), machine.wall_ms());
  machine.advance_ms(kDayMs);
  EXPECT_EQ(guard.wall_ms(), machine.wall_ms());
  EXPECT_THAT(kinds(), ::testing::ElementsAre(Kind::jumped, Kind::accepted));
  jump(-GetParam());
  EXPECT_TRUE(guard.in_doubt()) << "what was accepted is what holds from then on";
}

INSTANTIATE_TEST_SUITE_P(Both, JumpTest, ::testing::Values(100 * kDayMs, -100 * kDayMs, kHourMs + 1, -kHourMs - 1, 3 * kHourMs));

TEST_F(ClockGuardTest, AFurtherJumpWhileInDoubt_IsToldToo_ButNotASmallStep) {
  jump(10 * kDayMs);
  guard.in_doubt();
  jump(kHourMs / 2);
  guard.in_doubt();
  EXPECT_THAT(kinds(), ::testing::ElementsAre(Kind::jumped));
  jump(10 * kDayMs);
  guard.in_doubt();
  EXPECT_THAT(kinds(), ::testing::ElementsAre(Kind::jumped));
  EXPECT_EQ(guard.wall_ms(), kNowMs);
}

TEST_F(ClockGuardTest, AClockThatJumpsWithoutEnd_IsToldOfWithinABound) {
  for (int i = 0; i < 1000; ++i) {
    jump(i % 2 == 0 ? 10 * kDayMs : 20 * kDayMs);
    guard.in_doubt();
  }
  EXPECT_EQ(guard.take_events().size(), ClockGuard::kMostEvents);
}

TEST_F(ClockGuardTest, AcceptingWithoutDoubt_ChangesNothing) {
  guard.accept();
  EXPECT_EQ(guard.wall_ms(), kNowMs);
  EXPECT_THAT(kinds(), ::testing::IsEmpty());
}

struct StartCase {
  const char* name;
  std::optional<std::int64_t> noted_ms;
  std::optional<std::int64_t> newest_ms;
  std::int64_t max_ahead_ms;
  std::int64_t goes_on_from_ms;  // kNowMs: no doubt
};

class ClockGuardStart : public ClockGuardTest, public ::testing::WithParamInterface<StartCase> {};

TEST_P(ClockGuardStart, ComparesTheMachinesTimeWithTheLastUse) {
  const StartCase& start = GetParam();
  guard.start({start.noted_ms, start.newest_ms}, start.max_ahead_ms);
  EXPECT_EQ(guard.wall_ms(), start.goes_on_from_ms);
  EXPECT_EQ(guard.in_doubt(), start.goes_on_from_ms != kNowMs);
  machine.advance_ms(kDayMs);
  EXPECT_EQ(guard.wall_ms(), start.goes_on_from_ms + kDayMs);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ClockGuardStart,
    ::testing::Values(StartCase{"ANewStore", {}, {}, 7 * kDayMs, kNowMs},
                      StartCase{"ExactlyTheLimit", kNowMs - 7 * kDayMs, {}, 7 * kDayMs, kNowMs},
                      StartCase{"BeyondTheLimit", kNowMs - 7 * kDayMs - 1, {}, 7 * kDayMs, kNowMs - 7 * kDayMs - 1},
                      StartCase{"AnOldRecordAlone", {}, kNowMs - 8 * kDayMs, 7 * kDayMs, kNowMs - 8 * kDayMs},
                      StartCase{"AYoungRecordAlone", {}, kNowMs - 6 * kDayMs, 7 * kDayMs, kNowMs},
                      StartCase{"AnOldNoteAndAYoungRecord", kNowMs - 30 * kDayMs, kNowMs - kDayMs, 7 * kDayMs, kNowMs},
                      StartCase{"AYoungNoteAndAnOldRecord", kNowMs - kDayMs, kNowMs - 30 * kDayMs, 7 * kDayMs, kNowMs},
                      StartCase{"NoLimit", kNowMs - 4000 * kDayMs, {}, ClockGuard::kNoLimit, kNowMs},
                      StartCase{"BehindTheNote", kNowMs + 2 * kHourMs, {}, 7 * kDayMs, kNowMs + 2 * kHourMs},
                      StartCase{"BehindTheNoteWithoutALimit", kNowMs + 2 * kHourMs, {}, ClockGuard::kNoLimit, kNowMs + 2 * kHourMs},
                      StartCase{"ALittleBehindTheNote", kNowMs + kHourMs, {}, 7 * kDayMs, kNowMs},
                      StartCase{"BehindARecordAlone", {}, kNowMs + 100 * kDayMs, 7 * kDayMs, kNowMs}),
    [](const auto& test) { return test.param.name; });

TEST_F(ClockGuardTest, StartedAhead_IsRightAgainWhenTheTimeIsPlausibleAfterTheLastUse) {
  guard.start({kNowMs - 100 * kDayMs, std::nullopt}, 7 * kDayMs);
  EXPECT_TRUE(guard.in_doubt());
  machine.set_wall_ms(kNowMs - 95 * kDayMs);  // the clock was set right: the service had been stopped for 5 days
  EXPECT_FALSE(guard.in_doubt());
  EXPECT_EQ(guard.wall_ms(), kNowMs - 95 * kDayMs);
  EXPECT_THAT(kinds(), ::testing::ElementsAre(Kind::started_ahead, Kind::right_again));
}

// A machine without a battery: it starts in 1970 and hears of the time a little later.
TEST_F(ClockGuardTest, StartedBehind_IsRightAgainWhenTheTimeIsPlausibleAfterTheLastUse) {
  test::FakeClock fresh(0);
  ClockGuard of_fresh(fresh);
  of_fresh.start({kNowMs, kNowMs - 5000}, 7 * kDayMs);
  EXPECT_EQ(of_fresh.wall_ms(), kNowMs);
  fresh.advance_ms(30'000);
  EXPECT_EQ(of_fresh.wall_ms(), kNowMs + 30'000);
  fresh.set_wall_ms(kNowMs + 2 * kDayMs);
  EXPECT_EQ(of_fresh.wall_ms(), kNowMs + 2 * kDayMs);
  const auto events = of_fresh.take_events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, Kind::started_behind);
  EXPECT_EQ(events[1].kind, Kind::right_again);
}

TEST_F(ClockGuardTest, StartedAhead_AfterAccepting_GoesByTheMachine) {
  guard.start({kNowMs - 100 * kDayMs, std::nullopt}, 7 * kDayMs);
  guard.accept();
  EXPECT_EQ(guard.wall_ms(), kNowMs);
  jump(2 * kDayMs);
  EXPECT_TRUE(guard.in_doubt()) << "the wide window is for the start alone";
}

// A laptop's lid: the machine slept, and its monotonic clock with it.
TEST(ClockGuardSleep, ASleepOfTheMachine_IsNoJump) {
  struct Sleeper final : Clock {
    std::int64_t wall_ms() const override { return kNowMs + slept_ms; }
    std::int64_t monotonic_ns() const override { return 5; }
    std::int64_t elapsed_ns() const override { return 5 + slept_ms * 1'000'000; }
    std::int64_t slept_ms = 0;
  } machine;
  ClockGuard guard(machine);
  machine.slept_ms = 12 * kHourMs;
  EXPECT_EQ(guard.wall_ms(), kNowMs + 12 * kHourMs);
  EXPECT_FALSE(guard.in_doubt());
}

TEST_F(ClockGuardTest, UnderManyThreads_NobodySeesAJump) {
  std::atomic<bool> seen{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 20'000; ++n) seen = seen || guard.wall_ms() > kNowMs + kHourMs;
    });
  }
  jump(100 * kDayMs);
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(seen);
}

TEST(AboutDuration, IsInTheUnitThatOneWouldSay) {
  EXPECT_EQ(about_duration(100 * kDayMs), "100.0 days");
  EXPECT_EQ(about_duration(kDayMs + kHourMs), "25.0 hours");
  EXPECT_EQ(about_duration(5'430'000), "90.5 minutes");
  EXPECT_EQ(about_duration(61'000), "61 seconds");
  EXPECT_EQ(about_duration(1'999), "1 second");
}

}  // namespace
}  // namespace runwarden
