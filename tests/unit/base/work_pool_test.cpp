#include "base/work_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/wait_until.h"

namespace runwarden {
namespace {

// Otherwise a pool that does not do its work would hang the test.
template <class T>
bool comes_in_time(const std::future<T>& future) {
  return future.wait_for(test::kPatience) == std::future_status::ready;
}

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

// The priority of a worker whose pool is made by a thread of priority `nice`, or nothing where this process may not raise its own.
std::optional<int> nice_of_worker(int nice) {
  std::optional<int> found;
  std::thread([&] {
    if (setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), nice) != 0) return;
    WorkPool pool(1, [](const std::string&) {});
    pool.post([&](std::size_t) { found = getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())); });
    pool.finish();
  }).join();
  return found;
}

TEST(WorkPool, WhenStartedAtARaisedPriority_WorksAtTheNormalOne) {
  const auto nice = nice_of_worker(-5);
  if (!nice) GTEST_SKIP() << "this process may not raise its priority";
  EXPECT_EQ(nice, 0);
}

TEST(WorkPool, WhenStartedAtALoweredPriority_KeepsIt) {
  EXPECT_EQ(nice_of_worker(3), 3);
}

std::atomic<int> offers{0};

// How often the one worker offered its processor while it did these flows' tasks.
int offers_of(const std::vector<std::uint64_t>& flows) {
  offers = 0;
  WorkPool pool(
      1, [](const std::string&) {}, [] { ++offers; });
  std::promise<void> all_wait;
  pool.post([&, posted = all_wait.get_future().share()](std::size_t) { posted.wait(); });
  for (const std::uint64_t flow : flows) pool.post([](std::size_t) {}, flow);
  all_wait.set_value();
  pool.finish();
  return offers;
}

TEST(WorkPool, WhileOthersPost_OffersItsProcessorAfterEachTaskOfABacklogButTheLast) {
  EXPECT_EQ(offers_of({1, 1, 1, 2}), 2);
  EXPECT_EQ(offers_of({1, 1, 1, 1}), 0);
  EXPECT_EQ(offers_of({1, 2, 3, 4}), 0);
  EXPECT_EQ(offers_of({1, 1, WorkPool::kOwnFlow}), 0);
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

TEST(WorkPool, OfItsThreads_OnlySoManyWorkAtATime) {
  constexpr int kTasks = 200;
  std::atomic<int> inside{0}, most{0}, done{0};
  std::promise<void> all_done;  // before the pool stops, when all threads may work
  WorkPool pool({4, 2}, [](const std::string&) {});
  for (int i = 0; i < kTasks; ++i) {
    pool.post([&](std::size_t) {
      const int now = ++inside;
      for (int before = most; before < now && !most.compare_exchange_weak(before, now);) continue;
      std::this_thread::yield();
      --inside;
      if (++done == kTasks) all_done.set_value();
    });
  }
  all_done.get_future().wait();
  EXPECT_LE(most, 2);
}

TEST(WorkPool, WhileThreadsWait_OthersWorkInTheirPlace) {
  std::atomic<int> waiting{0};
  std::promise<int> waiting_at_the_fourth;
  std::promise<void> let_go;
  std::shared_future<void> gone = let_go.get_future().share();
  WorkPool pool({4, 1}, [](const std::string&) {});
  for (int i = 0; i < 3; ++i) {
    pool.post([&waiting, gone](std::size_t) {
      ++waiting;
      const WorkPool::BlockingScope blocking;
      gone.wait();
      --waiting;
    });
  }
  pool.post([&](std::size_t) { waiting_at_the_fourth.set_value(waiting); });
  auto fourth = waiting_at_the_fourth.get_future();
  EXPECT_TRUE(comes_in_time(fourth));
  let_go.set_value();
  EXPECT_EQ(fourth.get(), 3);
}

constexpr std::int64_t kAtOnceNs = 1;  // any time that is over
constexpr std::int64_t kNeverNs = std::numeric_limits<std::int64_t>::max();

// A call that does not return before it is let go.
class Sleeper final : public WorkPool::DeadlineTask {
 public:
  explicit Sleeper(WorkPool::Task continuation) : continuation_(std::move(continuation)) {}
  void call() override { let_go.get_future().wait(); }
  WorkPool::Task continuation() override { return continuation_; }

  std::promise<void> let_go;

 private:
  WorkPool::Task continuation_;
};

// Until nobody is inside a sleeper any more: they go at the end of the test.
void wait_for_all(const WorkPool& pool) {
  while (pool.abandoned() > 0) std::this_thread::yield();
}

TEST(WorkPool, AThreadThatIsAbandoned_LeavesItsPlaceToAnother) {
  std::promise<void> continued, next;
  const auto sleeper = std::make_shared<Sleeper>([&](std::size_t) { continued.set_value(); });
  WorkPool pool({2, 1}, [](const std::string&) {});
  pool.post([&pool, sleeper](std::size_t worker) { pool.run_with_deadline(worker, kAtOnceNs, *sleeper); });
  EXPECT_TRUE(comes_in_time(continued.get_future()));
  pool.post([&](std::size_t) { next.set_value(); });
  EXPECT_TRUE(comes_in_time(next.get_future()));
  EXPECT_EQ(pool.abandoned(), 1u) << "the call has not returned";
  sleeper->let_go.set_value();
  wait_for_all(pool);
}

class Quick final : public WorkPool::DeadlineTask {
 public:
  void call() override { ++calls; }
  WorkPool::Task continuation() override {
    return [](std::size_t) { ADD_FAILURE() << "it was in time"; };
  }
  int calls = 0;
};

TEST(WorkPool, WhenAGuardedCallDoesNotReturn_AnotherThreadGoesOnWithItsNumber) {
  std::promise<std::thread::id> went_on;
  std::promise<std::size_t> number;
  std::promise<bool> in_time;
  Sleeper sleeper([&](std::size_t worker) {
    number.set_value(worker);
    went_on.set_value(std::this_thread::get_id());
  });
  WorkPool pool(1, [](const std::string&) {});
  std::promise<std::thread::id> first;
  pool.post([&](std::size_t worker) {
    first.set_value(std::this_thread::get_id());
    in_time.set_value(pool.run_with_deadline(worker, kAtOnceNs, sleeper));
  });
  EXPECT_EQ(number.get_future().get(), 0u);
  EXPECT_NE(went_on.get_future().get(), first.get_future().get());
  EXPECT_EQ(pool.abandoned(), 1u);
  sleeper.let_go.set_value();
  wait_for_all(pool);
  EXPECT_FALSE(in_time.get_future().get());
  std::promise<void> later;
  pool.post([&](std::size_t) { later.set_value(); });
  later.get_future().wait();
}

TEST(WorkPool, WhenAGuardedCallReturnsInTime_GoesOnWhereItIs) {
  Quick quick;
  int in_time = 0;
  {
    WorkPool pool(2, [](const std::string&) {});
    pool.post([&](std::size_t worker) {
      for (int i = 0; i < 1000; ++i) in_time += pool.run_with_deadline(worker, kNeverNs, quick);
    });
  }
  EXPECT_EQ(in_time, 1000);
  EXPECT_EQ(quick.calls, 1000);
}

TEST(WorkPool, WhenItsThreadIsLeftBehind_TheRestOfTheTaskIsDoneByAnother) {
  std::promise<void> rest, instead;
  Sleeper sleeper([&](std::size_t) { instead.set_value(); });
  WorkPool pool(1, [](const std::string&) {});
  pool.post([&](std::size_t worker) {
    pool.on_abandoned(worker, [&](std::size_t) { rest.set_value(); });
    EXPECT_FALSE(pool.run_with_deadline(worker, kAtOnceNs, sleeper));
  });
  instead.get_future().wait();
  rest.get_future().wait();
  sleeper.let_go.set_value();
  wait_for_all(pool);
}

TEST(WorkPool, WhenItFinishesBesideASleeper_DoesWhatWaitsAndLeavesItBehind) {
  std::atomic<int> done{0};
  Sleeper sleeper([&](std::size_t) { ++done; });
  WorkPool pool(1, [](const std::string&) {});
  pool.post([&](std::size_t worker) { pool.run_with_deadline(worker, kAtOnceNs, sleeper); });
  for (int i = 0; i < 100; ++i) pool.post([&](std::size_t) { ++done; });
  pool.finish();
  EXPECT_EQ(pool.abandoned(), 1u);
  EXPECT_EQ(done, 101);
  sleeper.let_go.set_value();
  wait_for_all(pool);
}

TEST(WorkPool, WhenItsPatienceIsOver_DropsWhatWaitsAndLeavesBehindWhatIsNotYetLate) {
  std::atomic<int> done{0};
  Sleeper sleeper([&](std::size_t) { ++done; });
  std::promise<void> inside;
  WorkPool pool(1, [](const std::string&) {});
  pool.post([&](std::size_t worker) {
    inside.set_value();
    EXPECT_FALSE(pool.run_with_deadline(worker, kNeverNs, sleeper));
  });
  inside.get_future().wait();
  pool.post([&](std::size_t) { ++done; });
  pool.finish(0);
  EXPECT_EQ(pool.abandoned(), 1u);
  EXPECT_EQ(done, 0);
  sleeper.let_go.set_value();
  wait_for_all(pool);
}

TEST(WorkPool, WhenTheSleeperOutlivesThePool_ItsThreadUsesNothingOfIt) {
  const auto over = std::make_shared<std::promise<void>>();
  auto ended = over->get_future();
  const auto sleeper = std::make_shared<Sleeper>([](std::size_t) {});
  {
    WorkPool pool(1, [](const std::string&) {});
    pool.post([&pool, over, sleeper](std::size_t worker) {
      EXPECT_FALSE(pool.run_with_deadline(worker, kAtOnceNs, *sleeper));
      over->set_value();
    });
  }
  sleeper->let_go.set_value();
  ended.wait();
}

TEST(WorkPool, WhenNoMoreThreadsMayBeLeftBehind_SaysSoAndKeepsTheirs) {
  std::promise<std::string> told;
  std::atomic<bool> first{true};
  std::atomic<std::size_t> went_on{0};
  std::vector<std::unique_ptr<Sleeper>> sleepers;
  WorkPool pool(1, [&](const std::string& why) {
    if (first.exchange(false)) told.set_value(why);
  });
  for (std::size_t i = 0; i <= WorkPool::kMaxAbandoned; ++i) {
    sleepers.push_back(std::make_unique<Sleeper>([&](std::size_t) { ++went_on; }));
    pool.post([&pool, &sleeper = *sleepers.back()](std::size_t worker) { pool.run_with_deadline(worker, kAtOnceNs, sleeper); });
  }
  EXPECT_NE(told.get_future().get().find("blocks worker 0 of 1: 256 threads are already abandoned"), std::string::npos);
  EXPECT_EQ(pool.abandoned(), WorkPool::kMaxAbandoned);
  for (const auto& sleeper : sleepers) sleeper->let_go.set_value();
  pool.finish();
  wait_for_all(pool);
  EXPECT_GE(went_on, WorkPool::kMaxAbandoned);
}

}  // namespace
}  // namespace runwarden
