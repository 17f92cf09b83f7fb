// Serializes work by key: a second request for the same run, or with the same Idempotency-Key, waits until the first is done. Any thread;
// nothing blocks: a callback resumes who had to wait.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"

namespace runwarden::ingest {

class KeyedQueue {
 public:
  // Queues for all keys at once, behind earlier callers; no key twice. True: all were free and are held now. False: at least one is busy;
  // `resume` is called once all are held, on the thread that released the last one. Either way release() ends it.
  bool enqueue(const std::vector<std::string>& keys, std::function<void()> resume);
  // Releases held keys: those of one enqueue().
  void release(const std::vector<std::string>& keys);

 private:
  struct Waiter {
    std::function<void()> resume;
    std::size_t blocked = 0;  // keys that others hold, or wait for before it
  };

  Mutex mutex_;
  std::unordered_map<std::string, std::deque<std::shared_ptr<Waiter>>> queues_ RW_GUARDED_BY(mutex_);  // by key; the first holds it
};

}  // namespace runwarden::ingest
