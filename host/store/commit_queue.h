// The engine's writing thread. It takes the waiting writes, commits them in one transaction, and then delivers the results. Only this
// thread calls BatchWriter::maintain(): after each batch, and from time to time while idle.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fair_budget.h"
#include "base/fair_queue.h"
#include "base/mutex.h"
#include "base/permit.h"
#include "base/recent_flows.h"
#include "store/open_store.h"
#include "store/prepared_entry.h"
#include "store/write_queue.h"

namespace runwarden::store {

// A write with what the engine prepared for it: encoded values and its ledger entry.
struct SealedWrite {
  Write write;
  std::vector<std::string> sealed = {};
  std::optional<PreparedEntry> entry = {};
};

// Commits writes in whole batches.
class BatchWriter {
 public:
  virtual ~BatchWriter() = default;

  // Does the work that does not depend on the order of writes (encoding, compression), to relieve the writing thread. Any thread.
  virtual SealedWrite seal(Write write) { return {std::move(write), {}}; }
  // Commits all writes in one transaction, in order. Returns their results in the same order. A write that does not fit is `unavailable`;
  // the others are stored.
  virtual std::vector<WriteResult> commit(std::span<const SealedWrite> batch) = 0;
  // Housekeeping. Must be called at least once a minute.
  virtual void maintain() = 0;
};

class CommitQueue final : public WriteQueue {
 public:
  struct Limits {
    // How much may wait; more is refused. One tenant gets at most as much as it leaves free.
    std::size_t max_items = 131'072;
    std::uint64_t max_bytes = std::uint64_t{256} << 20;
    std::int64_t commit_interval_ms = 0;  // how long a commit may wait for more writes; 0: not at all
    std::size_t max_commit_records = 512;
    std::uint64_t max_commit_bytes = std::uint64_t{2} << 20;
    // One tenant's part of a commit while others send, too. A tenant waits for the commit under way and for its own, so these limits bound
    // the wait that another tenant can cause. A lone tenant fills whole commits.
    std::size_t max_shared_records = 16;
    std::uint64_t max_shared_bytes = std::uint64_t{64} << 10;
    std::int64_t shared_ms = 1'000;          // how long commits stay shared after another tenant's write
    std::int64_t idle_maintain_ms = 20'000;  // how often an idle queue calls BatchWriter::maintain(), which needs it once a minute
  };
  // All on the writing thread; see StoreListener.
  struct Listener {
    std::function<void(const std::string& text)> on_fatal;
    std::function<void(const std::string& text)> on_fault;
    std::function<void(const CommitReport&)> on_commit;
  };

  CommitQueue(BatchWriter& store, Limits limits, const Clock& clock, Listener listener);
  ~CommitQueue() override;  // drains
  CommitQueue(const CommitQueue&) = delete;
  CommitQueue& operator=(const CommitQueue&) = delete;

  // An empty queue accepts a single write of any size.
  bool submit(Write write, Done done, Permit permit = nullptr) override;
  void run_between(Job job) override;
  void drain() override;
  // Completes all waiting writes with that result, except the batch under way. The writing thread.
  void refuse_waiting(const WriteResult& result);

  Depth depth() const override;
  bool is_progressing(std::int64_t within_ms) const override;

 private:
  struct Item {
    SealedWrite write;
    Done done;
    std::uint64_t bytes = 0;
    Permit permit;
    FairBudget::Lease room;  // held while it waits
  };

  void work();
  bool wait_for_work(MutexLock& lock) RW_REQUIRES(mutex_);
  void note_turn() RW_REQUIRES(mutex_);
  std::vector<Item> take_batch() RW_REQUIRES(mutex_);
  void refuse_denied(std::vector<Item>& batch);
  void commit(std::vector<Item> batch);
  void complete(Item& item, WriteResult result);
  void do_jobs(std::vector<Job> jobs);

  BatchWriter& store_;
  Limits limits_;
  const Clock& clock_;
  Listener listener_;
  mutable Mutex mutex_;
  CondVar wake_;
  FairBudget room_;
  FairQueue<Item> items_ RW_GUARDED_BY(mutex_);  // by tenant
  RecentFlows senders_ RW_GUARDED_BY(mutex_);
  std::vector<Job> jobs_ RW_GUARDED_BY(mutex_);
  std::vector<Item> in_doubt_;  // the batch of a failed commit, kept until the end so that no client gets an answer
  // When the writing thread last turned to something new, or when work arrived while it was idle.
  std::int64_t turned_ns_ RW_GUARDED_BY(mutex_) = 0;
  bool busy_ RW_GUARDED_BY(mutex_) = false;  // it works outside the lock
  bool stopping_ RW_GUARDED_BY(mutex_) = false;
  bool failed_ RW_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace runwarden::store
