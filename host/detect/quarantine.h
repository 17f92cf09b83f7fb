// Decides when a detector has failed too often to be called again. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/mutex.h"

namespace runwarden::detect {

class Quarantine {
 public:
  // `failures` (at least 1) within `window_ms` quarantine the detector until its set is replaced.
  Quarantine(int failures, std::int64_t window_ms) : failures_(failures), window_ns_(window_ms * 1'000'000) {}

  bool active() const { return active_.load(std::memory_order_acquire); }
  // True if this failure starts the quarantine.
  bool note_failure(std::int64_t now_ns, std::string_view why);
  std::string reason() const;

 private:
  const int failures_;
  const std::int64_t window_ns_;
  std::atomic<bool> active_ = false;
  mutable Mutex mutex_;
  std::deque<std::int64_t> times_ RW_GUARDED_BY(mutex_);
  std::string reason_ RW_GUARDED_BY(mutex_);
};

}  // namespace runwarden::detect
