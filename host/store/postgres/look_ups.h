// Asks the database what is to be known before runs are judged: what comes in while a round trip is under way shares the next.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "store/postgres/reads.h"

namespace runwarden::store::postgres {

class LookUps {
 public:
  using Then = std::function<void(LookedUp)>;

  // As many round trips may be under way at once as there are threads.
  LookUps(Reads& reads, std::size_t threads);
  ~LookUps();
  LookUps(const LookUps&) = delete;
  LookUps& operator=(const LookUps&) = delete;

  // Any thread. `then` is called once, on a thread of this object; with a fault where the database cannot be asked. Whoever asks bounds how many wait.
  void ask(LookUp asked, Then then);
  // Answers whoever waits, and ends the threads; who asks afterwards is told that the store is away.
  void stop();

 private:
  void work();

  Reads& reads_;
  Mutex mutex_;
  CondVar asked_;
  std::vector<LookUp> waiting_ RW_GUARDED_BY(mutex_);
  std::vector<Then> then_ RW_GUARDED_BY(mutex_);  // of each that waits
  bool stopping_ RW_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace runwarden::store::postgres
