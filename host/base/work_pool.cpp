#include "base/work_pool.h"

#include <pthread.h>

#include <exception>
#include <utility>

namespace runwarden {

WorkPool::WorkPool(std::size_t threads, std::function<void(const std::string&)> on_fault) : on_fault_(std::move(on_fault)) {
  threads_.reserve(threads);
  for (std::size_t worker = 0; worker < threads; ++worker) threads_.emplace_back([this, worker] { work(worker); });
}

WorkPool::~WorkPool() {
  finish();
}

void WorkPool::finish() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
}

void WorkPool::post(Task task) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    tasks_.push_back(std::move(task));
    wake = idle_ > 0;
  }
  if (wake) wake_.notify_one();
}

std::size_t WorkPool::waiting() const {
  const std::lock_guard lock(mutex_);
  return tasks_.size();
}

void WorkPool::work(std::size_t worker) {
  pthread_setname_np(pthread_self(), ("work-" + std::to_string(worker)).c_str());
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      ++idle_;
      wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      --idle_;
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    try {
      task(worker);
    } catch (const std::exception& fault) {
      on_fault_(fault.what());
    } catch (...) {
      on_fault_("an unknown exception");
    }
  }
}

}  // namespace runwarden
