// Runs tasks on several threads and delivers the answers in the order of the tasks, each as soon as it and all before it are done.
// Holds a bounded number of tasks and bytes: submit() waits for room.
//
// submit and finish: one thread. task: a worker thread, with that thread's number. deliver: one worker thread at a time.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace runwarden::cli {

template <class Answer>
class OrderedWork {
 public:
  using Task = std::function<Answer(std::size_t worker)>;
  using Deliver = std::function<bool(Answer& answer, bool more_at_hand)>;  // false: the reader is gone; stop

  OrderedWork(std::size_t threads, Deliver deliver) : deliver_(std::move(deliver)), max_jobs_(threads * kJobsPerThread) {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this, i] { work(i); });
  }
  ~OrderedWork() { finish(); }
  OrderedWork(const OrderedWork&) = delete;
  OrderedWork& operator=(const OrderedWork&) = delete;

  // False once the reader of the answers is gone. `bytes`: the memory that the task holds.
  bool submit(Task task, std::size_t bytes) {
    auto job = std::make_shared<Job>();
    job->task = std::move(task);
    job->bytes = bytes;
    MutexLock lock(mutex_);
    changed_.wait(lock, [&]() RW_REQUIRES(mutex_) {
      return stopped_ || in_order_.empty() || (in_order_.size() < max_jobs_ && bytes_ + bytes <= kMaxBytes);
    });
    if (stopped_) return false;
    bytes_ += bytes;
    in_order_.push_back(job);
    waiting_.push_back(std::move(job));
    changed_.notify_all();
    return true;
  }

  // Waits until every answer is delivered or the reader is gone.
  void finish() {
    {
      const MutexLock lock(mutex_);
      ending_ = true;
      changed_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  static constexpr std::size_t kJobsPerThread = 16;
  static constexpr std::size_t kMaxBytes = 64 << 20;  // of tasks held; a larger task is accepted only alone

  struct Job {
    Task task;
    std::size_t bytes = 0;
    std::optional<Answer> answer;  // once it is done
  };
  // The oldest answer, and whether the next one is done too.
  struct Delivery {
    std::shared_ptr<Job> job;
    bool more = false;
  };

  void work(std::size_t worker) {
    MutexLock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this]() RW_REQUIRES(mutex_) { return stopped_ || ending_ || !waiting_.empty(); });
      if (stopped_ || waiting_.empty()) return;
      const auto job = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      Answer answer = job->task(worker);
      job->task = nullptr;
      lock.lock();
      job->answer.emplace(std::move(answer));
      while (const auto next = next_delivery()) {
        lock.unlock();
        const bool read_on = deliver_(*next->job->answer, next->more);
        lock.lock();
        delivered(*next->job, read_on);
      }
    }
  }

  // Empty while another thread delivers: that thread fetches the next one itself.
  std::optional<Delivery> next_delivery() RW_REQUIRES(mutex_) {
    if (delivering_ || stopped_ || in_order_.empty() || !in_order_.front()->answer) return std::nullopt;
    delivering_ = true;
    Delivery next{std::move(in_order_.front()), false};
    in_order_.pop_front();
    next.more = !in_order_.empty() && in_order_.front()->answer.has_value();
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
  std::deque<std::shared_ptr<Job>> waiting_ RW_GUARDED_BY(mutex_);   // not begun yet
  std::size_t bytes_ RW_GUARDED_BY(mutex_) = 0;
  bool delivering_ RW_GUARDED_BY(mutex_) = false;
  bool stopped_ RW_GUARDED_BY(mutex_) = false;  // the reader is gone
  bool ending_ RW_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace runwarden::cli
