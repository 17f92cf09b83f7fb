#include "ops/clock_monitor.h"

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

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kDayMs = 24 * kHourMs;

class NotedClock final : public store::Maintenance {
 public:
  void note_clock(std::int64_t wall_ms, std::uint64_t of_accepts) override {
    if (full) throw store::StoreError("no room");
    if (of_accepts == accepts) noted.push_back(wall_ms);
  }
  std::uint64_t clock_accepts() override {
    if (unreadable) throw store::StoreError("cannot be read");
    return accepts;
  }
  store::Expired expire(const store::Retention&, std::size_t) override { return {}; }
  void put_crash_mark(model::CrashMark) override {}
  std::vector<model::CrashMark> crash_marks() override { return {}; }

  std::vector<std::int64_t> noted;
  std::uint64_t accepts = 3;
  bool full = false;
  bool unreadable = false;
};

struct ClockMonitorTest : ::testing::Test {
  test::FakeClock machine;
  ClockGuard clock{machine};
  NotedClock store;
  std::vector<std::string> events;
  std::vector<std::string> texts;
  ClockMonitor watch{{clock, store, [](auto job) { job(); },
                      [this](LogLevel, std::string_view event, LogFields fields) {
                        events.emplace_back(event);
                        for (const LogField& field : fields) {
                          if (field.name == "text") texts.emplace_back(std::get<std::string_view>(field.value));
                        }
                      }}};

  void jump(std::int64_t ms) { machine.set_wall_ms(machine.wall_ms() + ms); }
};

TEST_F(ClockMonitorTest, WhileAllIsWell_NotesTheTimeNowAndThenAndSaysNothing) {
  const std::int64_t begun_ms = machine.wall_ms();
  for (int i = 0; i < 200; ++i) {
    watch.tick();
    machine.advance_ms(1000);
  }
  EXPECT_THAT(store.noted, ElementsAre(begun_ms, begun_ms + 60'000, begun_ms + 120'000, begun_ms + 180'000));
  watch.stop();
  EXPECT_EQ(store.noted.back(), machine.wall_ms());
  EXPECT_THAT(events, IsEmpty());
  EXPECT_FALSE(watch.warning());
}

TEST_F(ClockMonitorTest, AJump_IsToldOnceWithBothTimes_AndTheExpectedTimeIsNoted) {
  watch.tick();
  const std::int64_t begun_ms = machine.wall_ms();
  jump(100 * kDayMs);
  for (int i = 0; i < 100; ++i) {
    watch.tick();
    machine.advance_ms(1000);
  }
  watch.stop();
  EXPECT_THAT(store.noted, ElementsAre(begun_ms, begun_ms, begun_ms + 60'000, begun_ms + 100'000));
  ASSERT_THAT(events, ElementsAre("clock_jumped"));
  EXPECT_THAT(texts[0], HasSubstr("2026-09-21T14:13:20.000Z"));
  EXPECT_THAT(texts[0], HasSubstr("2026-12-30T14:13:20.000Z, which is 100.0 days ahead of"));
  EXPECT_THAT(texts[0], HasSubstr("runwarden store accept-clock"));
  const auto warning = watch.warning();
  ASSERT_TRUE(warning);
  EXPECT_EQ(warning->name, "clock_jumped");
  EXPECT_THAT(warning->detail, HasSubstr("100.0 days ahead of"));
}

TEST_F(ClockMonitorTest, WhenAnOperatorAccepts_GoesByTheMachineAndNotesItAtOnce) {
  watch.tick();
  jump(-10 * kDayMs);
  watch.tick();
  EXPECT_THAT(texts[0], HasSubstr("10.0 days behind"));
  store.accepts = 4;
  watch.tick();
  EXPECT_THAT(events, ElementsAre("clock_jumped", "clock_accepted"));
  EXPECT_FALSE(clock.in_doubt());
  EXPECT_EQ(store.noted.back(), machine.wall_ms());
  EXPECT_FALSE(watch.warning());
}

// An operator's word that comes while a note is on its way is not written over by it.
TEST_F(ClockMonitorTest, AfterAnAcceptThatItHasNotSeenYet_NotesNothing) {
  watch.tick();
  store.accepts = 4;
  watch.stop();
  EXPECT_EQ(store.noted.size(), 1u);
}

TEST_F(ClockMonitorTest, WhatWasAcceptedBeforeTheJump_DoesNotCountForIt) {
  store.accepts = 4;
  watch.tick();
  jump(10 * kDayMs);
  watch.tick();
  watch.tick();
  EXPECT_TRUE(clock.in_doubt());
}

TEST_F(ClockMonitorTest, WhenTheClockIsRightAgain_SaysSoAndNotesIt) {
  watch.tick();
  jump(2 * kHourMs);
  watch.tick();
  jump(-2 * kHourMs);
  watch.tick();
  EXPECT_THAT(events, ElementsAre("clock_jumped", "clock_right_again"));
  EXPECT_FALSE(watch.warning());
  EXPECT_EQ(store.noted.back(), machine.wall_ms());
}

TEST_F(ClockMonitorTest, AStartThatIsTooLate_SaysWhatMayBeTheReason) {
  clock.start({machine.wall_ms() - 30 * kDayMs, std::nullopt}, 7 * kDayMs);
  watch.tick();
  EXPECT_THAT(events, ElementsAre("clock_jumped"));
  EXPECT_THAT(texts[0], HasSubstr("30.0 days ahead of 2026-08-22T14:13:20.000Z, when this store was last in use"));
  EXPECT_THAT(texts[0], HasSubstr("retention.max_clock_step"));
  EXPECT_THAT(texts[0], HasSubstr("the service was stopped for that long"));
}

TEST_F(ClockMonitorTest, AStoreThatIsFullOrCannotBeRead_IsLookedAtAgain) {
  store.full = true;
  store.unreadable = true;
  watch.tick();
  EXPECT_THAT(store.noted, IsEmpty());
  store.full = false;
  store.unreadable = false;
  jump(10 * kDayMs);
  watch.tick();
  EXPECT_TRUE(clock.in_doubt()) << "no operator has said anything meanwhile";
  store.accepts = 4;
  watch.tick();
  EXPECT_FALSE(clock.in_doubt());
}

}  // namespace
}  // namespace runwarden::ops
