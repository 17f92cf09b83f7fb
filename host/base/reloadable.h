// A value that a reload replaces as a whole, such as the detectors. Users hold the pointer: a replaced value lives until the last of
// them releases it. Any thread.
#pragma once

#include <memory>
#include <utility>

#include "base/mutex.h"

namespace runwarden {

template <class Value>
class Reloadable {
 public:
  std::shared_ptr<Value> get() const {
    const MutexLock lock(mutex_);
    return value_;
  }
  void put(std::shared_ptr<Value> value) {
    const MutexLock lock(mutex_);
    value_.swap(value);
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<Value> value_ RW_GUARDED_BY(mutex_);
};

}  // namespace runwarden
