#include "ops/ticker.h"

#include <pthread.h>

#include <chrono>
#include <utility>

namespace runwarden::ops {

Ticker::Ticker(std::string name, std::int64_t every_ms, std::function<void()> tick)
    : thread_([this, name = std::move(name), every_ms, tick = std::move(tick)] { run(name, every_ms, tick); }) {}

Ticker::~Ticker() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Ticker::run(const std::string& name, std::int64_t every_ms, const std::function<void()>& tick) {
  pthread_setname_np(pthread_self(), name.c_str());
  MutexLock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::milliseconds(every_ms), [this]() RW_REQUIRES(mutex_) { return stopping_; })) {
    lock.unlock();
    tick();
    lock.lock();
  }
}

}  // namespace runwarden::ops
