// Mutex, MutexLock and CondVar: std::mutex, std::unique_lock and std::condition_variable with annotations, so that clang's
// -Wthread-safety (CMake preset "clang") rejects the use of a guarded member without its mutex. The macros are empty for other compilers.
//
//   Mutex mutex_;
//   std::vector<Item> items_ RW_GUARDED_BY(mutex_);
//   void trim() RW_REQUIRES(mutex_);  // the caller holds mutex_
//
// A lambda is checked like a function of its own. One that runs with the mutex held says so:
//   wake_.wait(lock, [this]() RW_REQUIRES(mutex_) { return !items_.empty(); });
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define RW_THREAD_ANNOTATION(attribute) __attribute__((attribute))
#else
#define RW_THREAD_ANNOTATION(attribute)
#endif

// For a data member: use it only with the mutex held. PT: the same for what the pointer points to.
#define RW_GUARDED_BY(mutex) RW_THREAD_ANNOTATION(guarded_by(mutex))
#define RW_PT_GUARDED_BY(mutex) RW_THREAD_ANNOTATION(pt_guarded_by(mutex))
// For a function: the caller holds the mutex, or does not hold it.
#define RW_REQUIRES(...) RW_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define RW_EXCLUDES(...) RW_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace runwarden {

class CondVar;

class RW_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

// Holds the mutex during its lifetime, except between unlock() and lock().
class RW_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) RW_THREAD_ANNOTATION(acquire_capability(mutex)) : lock_(mutex.mutex_) {}
  ~MutexLock() RW_THREAD_ANNOTATION(release_capability()) = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() RW_THREAD_ANNOTATION(acquire_capability()) { lock_.lock(); }
  void unlock() RW_THREAD_ANNOTATION(release_capability()) { lock_.unlock(); }

 private:
  friend class CondVar;
  std::unique_lock<std::mutex> lock_;
};

// The waiting functions release the lock while they wait and hold it again when they return.
class CondVar {
 public:
  void notify_one() noexcept { changed_.notify_one(); }
  void notify_all() noexcept { changed_.notify_all(); }

  // `ready` is called with the mutex held.
  template <class Ready>
  void wait(MutexLock& lock, Ready ready) RW_THREAD_ANNOTATION(no_thread_safety_analysis) {
    changed_.wait(lock.lock_, ready);
  }
  // The last value of `ready`: false if `timeout` passed first.
  template <class Ready>
  bool wait_for(MutexLock& lock, std::chrono::milliseconds timeout, Ready ready) RW_THREAD_ANNOTATION(no_thread_safety_analysis) {
    return changed_.wait_for(lock.lock_, timeout, ready);
  }
  // May return early.
  void wait_for(MutexLock& lock, std::chrono::milliseconds timeout) { changed_.wait_for(lock.lock_, timeout); }

 private:
  std::condition_variable changed_;
};

}  // namespace runwarden
