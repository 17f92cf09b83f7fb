// Threads that do tasks in the order they were given. What may wait here is bounded by whoever posts (Budget).
//
// post() may be called from any thread, and after the end too: then the task is dropped. A task that throws is reported to
// on_fault and costs only itself.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace runwarden {

class WorkPool {
 public:
  using Task = std::function<void(std::size_t worker)>;  // worker: from 0, below threads()

  WorkPool(std::size_t threads, std::function<void(const std::string&)> on_fault);
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  void post(Task task);
  // Does what still waits, then ends the threads; whoever holds the pool may go on posting, to no effect. [main]
  void finish();
  std::size_t threads() const { return threads_.size(); }
  std::size_t waiting() const;

 private:
  void work(std::size_t worker);

  std::function<void(const std::string&)> on_fault_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace runwarden
