#include "cli/ordered_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

namespace runwarden::cli {
namespace {

TEST(OrderedWork, WhenTasksEndInAnyOrder_DeliversInTheOrderGiven) {
  std::vector<std::string> delivered;
  std::atomic<int> most_workers = 0;
  {
    OrderedWork<std::string> work(4, [&](const std::string& answer, bool) {
      delivered.push_back(answer);
      return true;
    });
    for (int i = 0; i < 2000; ++i) {
      ASSERT_TRUE(work.submit(
          [i, &most_workers](std::size_t worker) {
            EXPECT_LT(worker, 4u);
            volatile int spin = (i * 7919) % 1000;
            while (spin > 0) spin = spin - 1;
            ++most_workers;
            return std::to_string(i);
          },
          10));
    }
    work.finish();
  }
  ASSERT_EQ(delivered.size(), 2000u);
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(delivered[static_cast<std::size_t>(i)], std::to_string(i));
  EXPECT_EQ(most_workers, 2000);
}

TEST(OrderedWork, WhileAnEarlierTaskRuns_HoldsLaterAnswersBack) {
  std::latch release(1);
  std::latch later_done(1);
  std::vector<std::string> delivered;
  OrderedWork<std::string> work(2, [&](const std::string& answer, bool) {
    delivered.push_back(answer);
    return true;
  });
  work.submit(
      [&](std::size_t) {
        release.wait();
        return std::string("first");
      },
      1);
  work.submit(
      [&](std::size_t) {
        later_done.count_down();
        return std::string("second");
      },
      1);
  later_done.wait();
  release.count_down();
  work.finish();
  EXPECT_EQ(delivered, (std::vector<std::string>{"first", "second"}));
}

TEST(OrderedWork, WhenNobodyReadsOn_Stops) {
  int delivered = 0;
  OrderedWork<std::string> work(2, [&](const std::string&, bool) { return ++delivered < 3; });
  bool open = true;
  for (int i = 0; i < 1000 && open; ++i) open = work.submit([](std::size_t) { return std::string("x"); }, 1);
  work.finish();
  EXPECT_FALSE(open);
  EXPECT_EQ(delivered, 3);
}

TEST(OrderedWork, WhenOneTextIsLargerThanAllRoom_LetsItInAlone) {
  std::vector<std::string> delivered;
  OrderedWork<std::string> work(2, [&](const std::string& answer, bool) {
    delivered.push_back(answer);
    return true;
  });
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(work.submit([i](std::size_t) { return std::to_string(i); }, std::size_t{1} << 40));
  work.finish();
  EXPECT_EQ(delivered, (std::vector<std::string>{"0", "1", "2"}));
}

}  // namespace
}  // namespace runwarden::cli
