// Decides when a detector has failed too often to be asked again. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace runwarden::detect {

class Quarantine {
 public:
  // `failures` (at least 1) within `window_ms` shut the detector out until the set it belongs to is replaced.
  Quarantine(int failures, std::int64_t window_ms) : failures_(failures), window_ns_(window_ms * 1'000'000) {}

  bool shut() const { return shut_.load(std::memory_order_acquire); }
  // True for the failure that shuts it.
  bool note_failure(std::int64_t now_ns, std::string_view why);
  std::string reason() const;

 private:
  const int failures_;
  const std::int64_t window_ns_;
  std::atomic<bool> shut_ = false;
  mutable std::mutex mutex_;
  std::deque<std::int64_t> times_;  // guarded by mutex_
  std::string reason_;              // guarded by mutex_
};

}  // namespace runwarden::detect
