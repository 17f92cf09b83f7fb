#include "base/recent_flows.h"

#include <gtest/gtest.h>

namespace runwarden {
namespace {

constexpr std::int64_t kWithin = 100;

TEST(RecentFlows, OfOneFlow_AreNotShared) {
  RecentFlows flows;
  EXPECT_FALSE(flows.shared(0, kWithin));
  flows.note(0, 10);
  flows.note(0, 20);
  EXPECT_FALSE(flows.shared(20, kWithin));
}

TEST(RecentFlows, OfTwo_AreSharedUntilTheOtherHasBeenQuietForThatLong) {
  RecentFlows flows;
  flows.note(1, 10);
  flows.note(2, 50);
  flows.note(2, 110);
  EXPECT_TRUE(flows.shared(110, kWithin));
  EXPECT_FALSE(flows.shared(111, kWithin));
  flows.note(1, 200);
  EXPECT_TRUE(flows.shared(200, kWithin));
}

}  // namespace
}  // namespace runwarden
