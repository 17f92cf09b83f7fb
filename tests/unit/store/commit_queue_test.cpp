#include "store/commit_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "sample_records.h"
#include "support/fake_clock.h"

namespace runwarden::store {
namespace {

using Outcome = WriteResult::Outcome;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Takes note of each batch; while shut, a commit waits inside.
class GatedStore final : public BatchWriter {
 public:
  std::vector<WriteResult> commit(std::span<const SealedWrite> batch) override {
    std::unique_lock lock(mutex_);
    ++inside_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    if (fault_) throw FatalStoreError("the disk is gone");
    sizes_.push_back(batch.size());
    changed_.notify_all();
    return std::vector<WriteResult>(batch.size());
  }
  void maintain() override {
    const std::lock_guard lock(mutex_);
    ++tended_;
    tending_threads_.insert(std::this_thread::get_id());
    changed_.notify_all();
  }
  // The threads that have called maintain(), once it was called that often.
  std::set<std::thread::id> tended_by(int times) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return tended_ >= times; });
    return tending_threads_;
  }
  void shut() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void break_down() {
    const std::lock_guard lock(mutex_);
    fault_ = true;
  }
  void wait_until_inside(int commits) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return inside_ >= commits; });
  }
  void wait_until_done(std::size_t commits) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return sizes_.size() >= commits; });
  }
  std::vector<std::size_t> sizes() {
    const std::lock_guard lock(mutex_);
    return sizes_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  bool fault_ = false;
  int inside_ = 0;
  int tended_ = 0;
  std::set<std::thread::id> tending_threads_;
  std::vector<std::size_t> sizes_;
};

class CommitQueueTest : public ::testing::Test {
 protected:
  CommitQueue queue(CommitQueue::Limits limits) {
    return CommitQueue(
        store_, limits, clock_,
        {[this](const std::string& text) { fatal_.push_back(text); }, [this](const std::string& text) { faults_.push_back(text); },
         [this](const CommitReport& commit) { batches_.push_back(commit.records); }});
  }
  static Write write(std::size_t bytes = 10, model::TenantId tenant = 1) {
    RunWrite run = sample_run(tenant, {1, 1});
    run.run.document.assign(bytes, 'x');
    return run;
  }
  CommitQueue::Done note(int number) {
    return [this, number](const WriteResult&) { told_.push_back(number); };
  }

  test::FakeClock clock_;
  GatedStore store_;
  std::vector<int> told_;  // by the writing thread; read after drain()
  std::vector<std::string> fatal_;
  std::vector<std::string> faults_;
  std::vector<std::size_t> batches_;
};

TEST_F(CommitQueueTest, WhatWaitsDuringACommit_GoesTogetherInOrder) {
  store_.shut();
  CommitQueue queue = this->queue({});
  ASSERT_TRUE(queue.submit(write(), note(0)));
  store_.wait_until_inside(1);
  for (int i = 1; i <= 5; ++i) ASSERT_TRUE(queue.submit(write(), note(i)));
  EXPECT_EQ(queue.depth().items, 5u);
  store_.open();
  queue.drain();
  EXPECT_THAT(store_.sizes(), ElementsAre(1, 5));
  EXPECT_THAT(told_, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(batches_, ElementsAre(1, 5));
  EXPECT_EQ(queue.depth().items, 0u);
  EXPECT_EQ(queue.depth().bytes, 0u);
}

TEST_F(CommitQueueTest, ATenantThatFloods_HoldsUpOnlyItself) {
  store_.shut();
  CommitQueue::Limits limits;
  limits.max_commit_records = 4;
  CommitQueue queue = this->queue(limits);
  queue.submit(write(), note(0));
  store_.wait_until_inside(1);
  for (int i = 1; i <= 20; ++i) queue.submit(write(), note(i));
  queue.submit(write(10, 2), note(100));
  queue.submit(write(10, 2), note(101));
  store_.open();
  queue.drain();
  const std::vector<int> second_commit(told_.begin() + 1, told_.begin() + 5);
  EXPECT_THAT(second_commit, ElementsAre(1, 100, 2, 101));
  EXPECT_EQ(told_.size(), 23u);
}

TEST_F(CommitQueueTest, FullByCount_RefusesAndTellsNobody) {
  store_.shut();
  CommitQueue::Limits limits;
  limits.max_items = 4;
  CommitQueue queue = this->queue(limits);
  ASSERT_TRUE(queue.submit(write(), note(0)));
  store_.wait_until_inside(1);
  EXPECT_TRUE(queue.submit(write(), note(1)));
  EXPECT_TRUE(queue.submit(write(), note(2)));
  EXPECT_FALSE(queue.submit(write(), note(3))) << "a tenant has at most as much as it leaves free";
  store_.open();
  queue.drain();
  EXPECT_THAT(told_, ElementsAre(0, 1, 2));
}

TEST_F(CommitQueueTest, ATenantThatFillsItsShare_LeavesRoomForAnother) {
  store_.shut();
  CommitQueue::Limits limits;
  limits.max_items = 8;
  CommitQueue queue = this->queue(limits);
  queue.submit(write(), note(0));
  store_.wait_until_inside(1);
  int taken = 0;
  while (queue.submit(write(), note(1))) ++taken;
  EXPECT_EQ(taken, 4);
  EXPECT_TRUE(queue.submit(write(10, 2), note(2)));
  store_.open();
  queue.drain();
  EXPECT_THAT(told_, ElementsAre(0, 1, 2, 1, 1, 1));
}

TEST_F(CommitQueueTest, WhileOthersSend_ATenantHasItsShareOfACommit_AndAloneAllOfIt) {
  store_.shut();
  CommitQueue::Limits limits;
  limits.max_shared_records = 3;
  CommitQueue queue = this->queue(limits);
  queue.submit(write(), note(0));
  store_.wait_until_inside(1);
  for (int i = 0; i < 7; ++i) queue.submit(write(), note(1));
  for (int i = 0; i < 2; ++i) queue.submit(write(10, 2), note(2));
  store_.open();
  store_.wait_until_done(4);
  store_.shut();
  clock_.advance_ms(limits.shared_ms + 1);
  queue.submit(write(), note(0));
  store_.wait_until_inside(5);
  for (int i = 0; i < 7; ++i) queue.submit(write(), note(1));
  store_.open();
  queue.drain();
  EXPECT_THAT(store_.sizes(), ElementsAre(1, 5, 3, 1, 1, 7));
}

TEST_F(CommitQueueTest, WhileOthersSend_ATenantsShareOfACommitIsBoundedInBytes) {
  store_.shut();
  CommitQueue::Limits limits;
  limits.max_shared_bytes = 50'000;
  CommitQueue queue = this->queue(limits);
  queue.submit(write(10, 2), note(0));
  store_.wait_until_inside(1);
  for (int i = 0; i < 4; ++i) queue.submit(write(20'000), note(1));
  queue.submit(write(200'000), note(1));
  store_.open();
  queue.drain();
  EXPECT_THAT(store_.sizes(), ElementsAre(1, 2, 2, 1));
}

TEST_F(CommitQueueTest, FullByBytes_RefusesButTakesOneLargeWriteAlone) {
  store_.shut();
  CommitQueue::Limits limits;
  limits.max_bytes = 5000;
  CommitQueue queue = this->queue(limits);
  ASSERT_TRUE(queue.submit(write(), note(0)));
  store_.wait_until_inside(1);
  EXPECT_TRUE(queue.submit(write(100'000), note(1)));
  EXPECT_FALSE(queue.submit(write(), note(2)));
  store_.open();
  queue.drain();
  EXPECT_THAT(told_, ElementsAre(0, 1));
}

TEST_F(CommitQueueTest, Batches_KeepToTheirLimits) {
  store_.shut();
  CommitQueue::Limits limits;
  limits.max_commit_records = 3;
  limits.max_commit_bytes = 50'000;
  CommitQueue queue = this->queue(limits);
  queue.submit(write(), note(0));
  store_.wait_until_inside(1);
  for (int i = 0; i < 4; ++i) queue.submit(write(), note(i));
  for (int i = 0; i < 2; ++i) queue.submit(write(40'000), note(i));
  queue.submit(write(200'000), note(9));
  store_.open();
  queue.drain();
  EXPECT_THAT(store_.sizes(), ElementsAre(1, 3, 2, 1, 1));
}

TEST_F(CommitQueueTest, APermitThatIsWithdrawn_RefusesWhatWaits_AndNothingElse) {
  store_.shut();
  CommitQueue queue = this->queue({});
  std::atomic<bool> withdrawn = false;
  std::atomic<int> asked = 0;
  const Permit permit = std::make_shared<const std::function<std::optional<Error>()>>([&]() -> std::optional<Error> {
    ++asked;
    if (!withdrawn) return std::nullopt;
    return Error{Code::unauthorized, "the key was revoked", {}, {}};
  });
  std::vector<std::pair<int, Outcome>> outcomes;
  const auto tell = [&](int number) {
    return [&outcomes, number](const WriteResult& result) {
      outcomes.emplace_back(number, result.outcome);
      EXPECT_EQ(result.refusal ? result.refusal->detail : "", result.outcome == Outcome::denied ? "the key was revoked" : "");
    };
  };
  ASSERT_TRUE(queue.submit(write(), tell(0), permit));
  store_.wait_until_inside(1);
  for (int i = 1; i <= 3; ++i) ASSERT_TRUE(queue.submit(write(), tell(i), permit));
  ASSERT_TRUE(queue.submit(write(), tell(4)));
  withdrawn = true;
  store_.open();
  queue.drain();
  EXPECT_THAT(store_.sizes(), ElementsAre(1, 1));
  EXPECT_THAT(outcomes, ElementsAre(std::pair(0, Outcome::stored), std::pair(1, Outcome::denied), std::pair(2, Outcome::denied),
                                    std::pair(3, Outcome::denied), std::pair(4, Outcome::stored)));
  EXPECT_THAT(batches_, ElementsAre(1, 1));
  EXPECT_EQ(asked, 2) << "once before each commit, however many share it";
}

TEST_F(CommitQueueTest, ABatchOfNothingButRefusals_IsNoCommit) {
  CommitQueue queue = this->queue({});
  const Permit none = std::make_shared<const std::function<std::optional<Error>()>>([] {
    return std::optional(Error{Code::unauthorized, "the key was revoked", {}, {}});
  });
  ASSERT_TRUE(queue.submit(write(), note(0), none));
  queue.drain();
  EXPECT_THAT(told_, ElementsAre(0));
  EXPECT_THAT(store_.sizes(), IsEmpty());
}

TEST_F(CommitQueueTest, Jobs_RunBetweenBatchesAndMayFail) {
  CommitQueue queue = this->queue({});
  std::promise<void> done;
  queue.run_between([] { throw StoreError("no room for a time"); });
  queue.run_between([&] { done.set_value(); });
  done.get_future().wait();
  ASSERT_TRUE(queue.submit(write(), note(0)));
  queue.drain();
  EXPECT_THAT(told_, ElementsAre(0));
  EXPECT_THAT(faults_, ElementsAre("no room for a time"));
  EXPECT_THAT(fatal_, IsEmpty());
}

TEST_F(CommitQueueTest, TheStore_IsTendedByTheWritingThread_AfterEachTurn) {
  CommitQueue queue = this->queue({});
  std::thread::id writer;
  queue.run_between([&] { writer = std::this_thread::get_id(); });
  const auto after_a_job = store_.tended_by(1);
  EXPECT_THAT(after_a_job, ElementsAre(writer));
  ASSERT_TRUE(queue.submit(write(), note(0)));
  const auto after_a_commit = store_.tended_by(2);
  EXPECT_THAT(after_a_commit, ElementsAre(writer));
}

TEST_F(CommitQueueTest, TheStore_IsTendedThoughThereIsNothingToDo) {
  CommitQueue::Limits limits;
  limits.idle_maintain_ms = 1;
  CommitQueue queue = this->queue(limits);
  EXPECT_EQ(store_.tended_by(3).size(), 1u);
  ASSERT_TRUE(queue.submit(write(), note(0)));
  queue.drain();
  EXPECT_THAT(told_, ElementsAre(0));
}

TEST_F(CommitQueueTest, Drain_CommitsAllAndThenTakesNothing) {
  CommitQueue queue = this->queue({});
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(queue.submit(write(), note(i)));
  queue.drain();
  EXPECT_EQ(told_.size(), 1000u);
  EXPECT_FALSE(queue.submit(write(), note(1000)));
}

TEST_F(CommitQueueTest, FailedStore_IsReportedOnceAndNothingIsTold) {
  store_.shut();
  CommitQueue queue = this->queue({});
  queue.submit(write(), note(0));
  store_.wait_until_inside(1);
  queue.submit(write(), note(1));
  store_.break_down();
  store_.open();
  queue.drain();
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_THAT(fatal_, ElementsAre("the disk is gone"));
  EXPECT_FALSE(queue.submit(write(), note(2)));
}

TEST_F(CommitQueueTest, WithNothingToDo_MovesHoweverLongItWaits) {
  CommitQueue queue = this->queue({});
  clock_.advance_ms(3'600'000);
  EXPECT_TRUE(queue.is_progressing(1000));
}

TEST_F(CommitQueueTest, ACommitThatHangs_MovesNoMoreUntilItEnds) {
  store_.shut();
  CommitQueue queue = this->queue({});
  clock_.advance_ms(3'600'000);
  ASSERT_TRUE(queue.submit(write(), note(0)));
  store_.wait_until_inside(1);
  clock_.advance_ms(1000);
  EXPECT_TRUE(queue.is_progressing(1000));
  clock_.advance_ms(1);
  EXPECT_FALSE(queue.is_progressing(1000));
  ASSERT_TRUE(queue.submit(write(), note(1)));
  EXPECT_FALSE(queue.is_progressing(1000)) << "more to do is no progress";
  store_.open();
  queue.drain();
  EXPECT_TRUE(queue.is_progressing(1000));
}

TEST_F(CommitQueueTest, AJobThatHangs_MovesNoMore) {
  CommitQueue queue = this->queue({});
  std::promise<void> begun;
  std::promise<void> may_end;
  queue.run_between([&] {
    begun.set_value();
    may_end.get_future().wait();
  });
  begun.get_future().wait();
  clock_.advance_ms(1001);
  EXPECT_FALSE(queue.is_progressing(1000));
  may_end.set_value();
  queue.drain();
  EXPECT_TRUE(queue.is_progressing(1000));
}

TEST_F(CommitQueueTest, ListenerThatThrows_CostsOnlyItself) {
  CommitQueue queue = this->queue({});
  queue.submit(write(), [](const WriteResult&) { throw std::runtime_error("the client is gone"); });
  queue.submit(write(), note(1));
  queue.drain();
  EXPECT_THAT(told_, ElementsAre(1));
  EXPECT_THAT(faults_, ElementsAre("the client is gone"));
}

TEST_F(CommitQueueTest, ManyThreads_AreAllTold) {
  CommitQueue queue = this->queue({});
  std::atomic<int> told{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) EXPECT_TRUE(queue.submit(write(), [&](const WriteResult&) { ++told; }));
    });
  }
  for (std::thread& thread : threads) thread.join();
  queue.drain();
  EXPECT_EQ(told, 2000);
}

}  // namespace
}  // namespace runwarden::store
