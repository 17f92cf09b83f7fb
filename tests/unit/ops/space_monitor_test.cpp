#include "ops/space_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/fake_clock.h"

namespace runwarden::ops {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class SpaceOfAStore final : public store::Capacity {
 public:
  store::SpaceStatus space() override {
    ++looks;
    if (unreadable) throw store::StoreError("cannot be read");
    store::SpaceStatus room{60 << 20, 64 << 20, 64 << 20, full || away, {}, away, {}};
    if (full) room.reason = "the disk is full; free some of it";
    if (away) room.reason = "the database is unreachable";
    if (away) room.cause = "connection refused";
    return room;
  }
  Status writable() override { return Nothing{}; }
  bool full = false;
  bool away = false;
  bool unreadable = false;
  int looks = 0;
};

struct SpaceMonitorTest : ::testing::Test {
  test::FakeClock clock;
  SpaceOfAStore store;
  std::vector<std::string> events;
  std::vector<std::string> texts;
  SpaceMonitor watch{store, clock, [this](LogLevel, std::string_view event, std::string_view text) {
                       events.emplace_back(event);
                       texts.emplace_back(text);
                     }};

  void ticks(int seconds) {
    for (int i = 0; i < 5 * seconds; ++i) {
      watch.tick();
      clock.advance_ms(200);
    }
  }
};

TEST_F(SpaceMonitorTest, WhileThereIsRoom_SaysNothing_AndLooksOnceASecond) {
  ticks(10);
  EXPECT_THAT(events, IsEmpty());
  EXPECT_EQ(store.looks, 10);
}

TEST_F(SpaceMonitorTest, WhenItBecomesFull_AndHasRoomAgain_SaysEachOnce) {
  ticks(3);
  store.full = true;
  ticks(30);
  ASSERT_THAT(events, ElementsAre("store_full"));
  EXPECT_THAT(texts[0], HasSubstr("the disk is full; free some of it"));
  store.full = false;
  ticks(30);
  EXPECT_THAT(events, ElementsAre("store_full", "store_has_room"));
  EXPECT_THAT(texts[1], HasSubstr("61440 of 65536 KiB"));
  store.full = true;
  ticks(3);
  EXPECT_EQ(events.size(), 3u);
}

TEST_F(SpaceMonitorTest, WhenItGoesAway_AndComesBack_SaysEachOnce_AndNothingOfRoom) {
  ticks(3);
  store.away = true;
  ticks(30);
  ASSERT_THAT(events, ElementsAre("store_away"));
  EXPECT_THAT(texts[0], AllOf(StartsWith("the database is unreachable. "), EndsWith("connection refused")));
  store.away = false;
  ticks(30);
  EXPECT_THAT(events, ElementsAre("store_away", "store_back"));
}

TEST_F(SpaceMonitorTest, AStoreAtItsLimit_IsToldOfOnce) {
  for (int i = 0; i < 60; ++i) {
    store.full = i % 2 == 0;
    ticks(1);
  }
  EXPECT_THAT(events, ElementsAre("store_full"));
}

TEST_F(SpaceMonitorTest, AStoreThatStartsFull_IsToldOfAtOnce) {
  store.full = true;
  watch.tick();
  EXPECT_THAT(events, ElementsAre("store_full"));
}

TEST_F(SpaceMonitorTest, ALookThatFails_ChangesNothing) {
  store.full = true;
  ticks(2);
  store.unreadable = true;
  ticks(10);
  store.unreadable = false;
  store.full = false;
  ticks(5);
  EXPECT_THAT(events, ElementsAre("store_full", "store_has_room"));
}

}  // namespace
}  // namespace runwarden::ops
