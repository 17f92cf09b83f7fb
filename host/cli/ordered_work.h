// Runs tasks on several threads and delivers the answers in the order of the tasks, each as soon as it and all before it are done.
// Holds a bounded number of tasks and bytes: submit() waits for room.
//
// submit and finish: one thread. task: a thread of the pool, with that thread's number. deliver: one thread of the pool at a time.
#pragma once

#include <cstddef>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/work_pool.h"

namespace runwarden::cli {

template <class Output>
class OrderedWork {
 public:
  using Done = std::function<void(Output)>;
  // Calls `done` once, on this thread or another one of the pool. Throws nothing.
  using Task = std::function<void(std::size_t worker, WorkPool& pool, Done done)>;
  using Deliver = std::function<bool(Output& answer)>;  // false: the reader is gone; stop

  OrderedWork(std::size_t threads, Deliver deliver)
      : deliver_(std::move(deliver)), max_jobs_(threads * kJobsPerThread), pool_(threads, report) {}
  ~OrderedWork() { finish(); }
  OrderedWork(const OrderedWork&) = delete;
  OrderedWork& operator=(const OrderedWork&) = delete;

  // False once the reader of the answers is gone. `bytes`: the memory that the task holds.
  bool submit(Task task, std::size_t bytes) {
    const auto job = std::make_shared<Job>();
    job->bytes = bytes;
    {
      MutexLock lock(mutex_);
      changed_.wait(lock, [&]() RW_REQUIRES(mutex_) {
        return stopped_ || in_order_.empty() || (in_order_.size() < max_jobs_ && bytes_ + bytes <= kMaxBytes);
      });
      if (stopped_) return false;
      bytes_ += bytes;
      in_order_.push_back(job);
    }
    pool_.post([this, job, task = std::move(task)](std::size_t worker) {
      if (!stopped()) task(worker, pool_, [this, job](Output answer) { take(*job, std::move(answer)); });
    });
    return true;
  }

  // Waits until every answer is delivered or the reader is gone.
  void finish() {
    {
      MutexLock lock(mutex_);
      changed_.wait(lock, [this]() RW_REQUIRES(mutex_) { return !delivering_ && (stopped_ || in_order_.empty()); });
    }
    pool_.finish();
  }

  // After finish(): whether an abandoned detector call has not returned yet.
  bool has_abandoned_calls() const { return pool_.abandoned() > 0; }

 private:
  static constexpr std::size_t kJobsPerThread = 16;
  static constexpr std::size_t kMaxBytes = 64 << 20;  // of tasks held; a larger task is accepted only alone

  struct Job {
    std::size_t bytes = 0;
    std::optional<Output> answer;  // once it is done
  };

  static void report(const std::string& fault) { std::fprintf(stderr, "runwarden: %s\n", fault.c_str()); }

  bool stopped() {
    const MutexLock lock(mutex_);
    return stopped_;
  }

  void take(Job& job, Output answer) noexcept {
    MutexLock lock(mutex_);
    job.answer.emplace(std::move(answer));
    while (const auto next = next_delivery()) {
      lock.unlock();
      const bool read_on = deliver_(*next->answer);
      lock.lock();
      delivered(*next, read_on);
    }
  }

  // The oldest job, if it is done. Null while another thread delivers: that thread fetches the next one itself.
  std::shared_ptr<Job> next_delivery() RW_REQUIRES(mutex_) {
    if (delivering_ || stopped_ || in_order_.empty() || !in_order_.front()->answer) return nullptr;
    delivering_ = true;
    const std::shared_ptr<Job> next = std::move(in_order_.front());
    in_order_.pop_front();
    return next;
  }

  void delivered(const Job& job, bool read_on) RW_REQUIRES(mutex_) {
    delivering_ = false;
    bytes_ -= job.bytes;
    if (!read_on) stopped_ = true;
    changed_.notify_all();
  }

  Deliver deliver_;
  std::size_t max_jobs_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::shared_ptr<Job>> in_order_ RW_GUARDED_BY(mutex_);  // not delivered yet
  std::size_t bytes_ RW_GUARDED_BY(mutex_) = 0;
  bool delivering_ RW_GUARDED_BY(mutex_) = false;
  bool stopped_ RW_GUARDED_BY(mutex_) = false;  // the reader is gone
  WorkPool pool_;                               // last: its threads use the members above
};

}  // namespace runwarden::cli
