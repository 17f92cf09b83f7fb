// Does something every so often, on a thread of its own, until it goes. Made and ended by one owner.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace runwarden::app {

class Ticker {
 public:
  // `name` is the thread's, at most 15 characters. The first tick comes after `every_ms`.
  Ticker(std::string name, std::int64_t every_ms, std::function<void()> tick);
  ~Ticker();  // waits for a tick that runs
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  void run(const std::string& name, std::int64_t every_ms, const std::function<void()>& tick);

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace runwarden::app
