// Holds keys of a KeyedQueue and releases them on destruction. One owner.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/keyed_queue.h"

namespace runwarden::ingest {

class KeyedLock {
 public:
  explicit KeyedLock(KeyedQueue& queue) : queue_(queue) {}
  ~KeyedLock() { release(); }
  KeyedLock(const KeyedLock&) = delete;
  KeyedLock& operator=(const KeyedLock&) = delete;

  void add(std::string key) { keys_.push_back(std::move(key)); }
  // Like KeyedQueue::enqueue, except that `resume` calls this again, which then returns true. Without keys it always returns true. `resume`
  // must keep this object alive.
  bool acquire(std::function<void()> resume) {
    if (queued_ || keys_.empty()) return true;
    const bool held = queue_.enqueue(keys_, std::move(resume));
    queued_ = true;
    return held;
  }
  // Releases early, because a detector that does not return may keep this object alive for long.
  void release() {
    if (std::exchange(queued_, false)) queue_.release(keys_);
  }

 private:
  KeyedQueue& queue_;
  std::vector<std::string> keys_;
  bool queued_ = false;
};

// The keys of a run and of an Idempotency-Key.
inline std::string run_key(std::uint32_t tenant, std::string_view run_id) {
  return "run " + std::to_string(tenant) + " " + std::string(run_id);
}
inline std::string idempotency_key(std::uint32_t tenant, std::string_view identity_hex) {
  return "key " + std::to_string(tenant) + " " + std::string(identity_hex);
}

}  // namespace runwarden::ingest
