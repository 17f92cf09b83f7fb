// Counts the abandoned detector calls that have not returned, by library and kind of call (CallKind). The counts survive a reload with the
// same library. One per service; outlives its detector sets. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"

namespace runwarden::detect {

// Of one library and kind of call. Any thread.
class AbandonedCount {
 public:
  int count() const { return count_; }
  // When the oldest of them began, on the monotonic clock, or one before it that has returned.
  std::int64_t since_ns() const { return since_ns_; }
  void abandoned(std::int64_t begin_ns) {
    if (count_ == 0) since_ns_ = begin_ns;  // before it counts, so that nobody reads an older time with it
    ++count_;
  }
  void returned() { --count_; }

 private:
  std::atomic<int> count_ = 0;
  std::atomic<std::int64_t> since_ns_ = 0;
};

class AbandonedCalls {
 public:
  std::shared_ptr<AbandonedCount> of(const std::string& sha256, const std::string& key) {
    const MutexLock lock(mutex_);
    auto& count = counts_[sha256 + " " + key];
    if (!count) count = std::make_shared<AbandonedCount>();
    return count;
  }

 private:
  Mutex mutex_;
  std::map<std::string, std::shared_ptr<AbandonedCount>> counts_ RW_GUARDED_BY(mutex_);
};

}  // namespace runwarden::detect
