#include "cli/ordered_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

namespace runwarden::cli {
namespace {

using Done = OrderedWork<std::string>::Done;

TEST(OrderedWork, WhenTasksEndInAnyOrder_DeliversInTheOrderGiven) {
  std::vector<std::string> delivered;
  std::atomic<int> most_workers = 0;
  {
    OrderedWork<std::string> work(4, [&](const std::string& answer) {
      delivered.push_back(answer);
      return true;
    });
    for (int i = 0; i < 2000; ++i) {
      ASSERT_TRUE(work.submit(
          [i, &most_workers](std::size_t worker, WorkPool&, const Done& done) {
            EXPECT_LT(worker, 4u);
            volatile int spin = (i * 7919) % 1000;
            while (spin > 0) spin = spin - 1;
            ++most_workers;
            done(std::to_string(i));
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
  OrderedWork<std::string> work(2, [&](const std::string& answer) {
    delivered.push_back(answer);
    return true;
  });
  work.submit(
      [&](std::size_t, WorkPool&, const Done& done) {
        release.wait();
        done("first");
      },
      1);
  work.submit(
      [&](std::size_t, WorkPool&, const Done& done) {
        later_done.count_down();
        done("second");
      },
      1);
  later_done.wait();
  release.count_down();
  work.finish();
  EXPECT_EQ(delivered, (std::vector<std::string>{"first", "second"}));
}

TEST(OrderedWork, WhileACallDoesNotReturn_DeliversWithoutIt) {
  class Hung final : public WorkPool::DeadlineTask {
   public:
    Hung(std::latch& release, Done done) : release_(release), done_(std::move(done)) {}
    void call() override { release_.wait(); }
    WorkPool::Task continuation() override {
      return [done = done_](std::size_t) { done("abandoned"); };
    }

   private:
    std::latch& release_;
    const Done done_;
  };
  std::latch release(1);
  std::latch returned(1);
  std::vector<std::string> delivered;
  OrderedWork<std::string> work(1, [&](const std::string& answer) {
    delivered.push_back(answer);
    return true;
  });
  work.submit(
      [&](std::size_t worker, WorkPool& pool, const Done& done) {
        Hung hung(release, done);
        EXPECT_FALSE(pool.run_with_deadline(worker, 1, hung));
        returned.count_down();
      },
      1);
  work.submit([](std::size_t, WorkPool&, const Done& done) { done("second"); }, 1);
  work.finish();
  EXPECT_EQ(delivered, (std::vector<std::string>{"abandoned", "second"}));
  EXPECT_TRUE(work.has_abandoned_calls());
  release.count_down();
  returned.wait();
}

TEST(OrderedWork, WhenNobodyReadsOn_Stops) {
  int delivered = 0;
  OrderedWork<std::string> work(2, [&](const std::string&) { return ++delivered < 3; });
  bool open = true;
  for (int i = 0; i < 1000 && open; ++i) open = work.submit([](std::size_t, WorkPool&, const Done& done) { done("x"); }, 1);
  work.finish();
  EXPECT_FALSE(open);
  EXPECT_EQ(delivered, 3);
}

TEST(OrderedWork, WhenOneTextIsLargerThanAllRoom_LetsItInAlone) {
  std::vector<std::string> delivered;
  OrderedWork<std::string> work(2, [&](const std::string& answer) {
    delivered.push_back(answer);
    return true;
  });
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(work.submit([i](std::size_t, WorkPool&, const Done& done) { done(std::to_string(i)); }, std::size_t{1} << 40));
  work.finish();
  EXPECT_EQ(delivered, (std::vector<std::string>{"0", "1", "2"}));
}

}  // namespace
}  // namespace runwarden::cli
