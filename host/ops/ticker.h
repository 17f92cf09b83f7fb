// Calls a function at a fixed interval on its own thread until it is destroyed. One owner.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "base/mutex.h"

namespace runwarden::ops {

class Ticker {
 public:
  // `name` is the thread's name, at most 15 characters. The first tick comes after `every_ms`.
  Ticker(std::string name, std::int64_t every_ms, std::function<void()> tick);
  ~Ticker();  // waits for a running tick
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  void run(const std::string& name, std::int64_t every_ms, const std::function<void()>& tick);

  Mutex mutex_;
  CondVar wake_;
  bool stopping_ RW_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace runwarden::ops
