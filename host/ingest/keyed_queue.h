// Serializes work by key: a second request for the same run, or with the same Idempotency-Key, waits until the first is done. Any thread.
// Nothing blocks: callbacks resume the waiters.
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
  // Queues for all keys at once, behind earlier callers. Keys must be distinct. Returns true if all were free; the caller holds them.
  // Returns false if at least one is busy: `resume` is called once all are held, on the thread that released the last one. In both cases
  // the caller must release() them.
  bool enqueue(const std::vector<std::string>& keys, std::function<void()> resume);
  // Releases the keys of one enqueue().
  void release(const std::vector<std::string>& keys);

 private:
  struct Waiter {
    std::function<void()> resume;
    std::size_t blocked = 0;  // keys held by earlier waiters or awaited by them
  };

  Mutex mutex_;
  std::unordered_map<std::string, std::deque<std::shared_ptr<Waiter>>> queues_ RW_GUARDED_BY(mutex_);  // by key; the first waiter holds it
};

}  // namespace runwarden::ingest
