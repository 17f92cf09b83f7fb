// Turns texts into answers on several threads and hands the answers on in the order of the texts, each as soon as it and all
// before it are there. Holds a bounded number of texts and bytes: submit() waits for room.
//
// submit and finish: one thread. work: any of its threads, with that thread's number. deliver: one thread at a time.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace runwarden::cli {

class OrderedWork {
 public:
  using Task = std::function<std::string(std::size_t worker)>;
  using Deliver = std::function<bool(const std::string& answer, bool more_at_hand)>;  // false: nobody reads on, stop

  OrderedWork(std::size_t threads, Deliver deliver);
  ~OrderedWork();
  OrderedWork(const OrderedWork&) = delete;
  OrderedWork& operator=(const OrderedWork&) = delete;

  // False once nobody reads the answers any more. `bytes` is what the task holds in memory.
  bool submit(Task task, std::size_t bytes);
  // Waits for every answer.
  void finish();

 private:
  struct Job {
    Task task;
    std::size_t bytes = 0;
    std::string answer;
    bool done = false;
  };
  // The oldest answer, and whether the next one is done too.
  struct Delivery {
    std::shared_ptr<Job> job;
    bool more = false;
  };

  void work(std::size_t worker);
  std::optional<Delivery> next_delivery() RW_REQUIRES(mutex_);
  void delivered(const Job& job, bool read_on) RW_REQUIRES(mutex_);

  Deliver deliver_;
  std::size_t max_jobs_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::shared_ptr<Job>> in_order_ RW_GUARDED_BY(mutex_);  // not delivered yet
  std::deque<std::shared_ptr<Job>> waiting_ RW_GUARDED_BY(mutex_);   // not begun yet
  std::size_t bytes_ RW_GUARDED_BY(mutex_) = 0;
  bool delivering_ RW_GUARDED_BY(mutex_) = false;
  bool stopped_ RW_GUARDED_BY(mutex_) = false;  // nobody reads on
  bool ending_ RW_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace runwarden::cli
