// Counts the abandoned detector calls that have not returned, by library and kind of call (CallKind). The counts survive a reload with the
// same library. One per service; outlives its detector sets. Any thread.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"

namespace runwarden::detect {

class AbandonedCalls {
 public:
  std::shared_ptr<std::atomic<int>> of(const std::string& sha256, const std::string& key) {
    const MutexLock lock(mutex_);
    auto& count = counts_[sha256 + " " + key];
    if (!count) count = std::make_shared<std::atomic<int>>(0);
    return count;
  }

 private:
  Mutex mutex_;
  std::map<std::string, std::shared_ptr<std::atomic<int>>> counts_ RW_GUARDED_BY(mutex_);
};

}  // namespace runwarden::detect
