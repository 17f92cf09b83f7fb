#include "base/work_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "base/budget.h"

namespace runwarden {
namespace {

TEST(WorkPool, WhenFinished_HasDoneWhatWaited_AndTakesNoMore) {
  std::atomic<int> done{0};
  WorkPool pool(2, [](const std::string&) {});
  for (int i = 0; i < 1000; ++i) {
    pool.post([&](std::size_t worker) {
      EXPECT_LT(worker, 2u);
      if (done++ < 10) pool.post([&](std::size_t) { ++done; });
    });
  }
  pool.finish();
  EXPECT_GE(done, 1000);
  const int before = done;
  pool.post([&](std::size_t) { ++done; });
  pool.finish();
  EXPECT_EQ(done, before);
}

TEST(WorkPool, ATaskThatThrows_CostsOnlyItself) {
  std::atomic<int> faults{0};
  std::atomic<int> done{0};
  {
    WorkPool pool(1, [&](const std::string& why) { faults += why == "boom"; });
    pool.post([](std::size_t) { throw std::runtime_error("boom"); });
    pool.post([&](std::size_t) { ++done; });
  }
  EXPECT_EQ(faults, 1);
  EXPECT_EQ(done, 1);
}

TEST(Budget, WhenALeaseGrows_HoldsThatMuchMore_UntilItIsTooMuch) {
  Budget budget(4, 100);
  {
    auto one = budget.take(10);
    auto other = budget.take(10);
    ASSERT_TRUE(one && other);
    EXPECT_TRUE(one->grow(80));
    EXPECT_FALSE(other->grow(1));
    EXPECT_EQ(budget.bytes(), 100u);
    other->grow_at_any_rate(50);
    EXPECT_EQ(budget.bytes(), 150u);
    EXPECT_FALSE(budget.take(1));
  }
  EXPECT_EQ(budget.bytes(), 0u);
  auto alone = budget.take(1);
  EXPECT_TRUE(alone->grow(1000));  // whoever is alone is let in, however large
}

TEST(Budget, IsGivenBackByItsLease_AndLetsOneLargeItemIn) {
  Budget budget(2, 100);
  {
    auto large = budget.take(1000);
    ASSERT_TRUE(large);
    EXPECT_FALSE(budget.take(1));
  }
  auto one = budget.take(60);
  EXPECT_FALSE(budget.take(60));
  auto two = budget.take(40);
  ASSERT_TRUE(one && two);
  EXPECT_FALSE(budget.take(0)) << "two items are all";
  one.reset();
  EXPECT_TRUE(budget.take(1));
  EXPECT_EQ(budget.bytes(), 40u);
}

}  // namespace
}  // namespace runwarden
