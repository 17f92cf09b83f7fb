// Lets one request at a time through for each name: a second one for the same run, or under the same Idempotency-Key,
// waits until the first is done. Any thread; nothing blocks, who has to wait is called again.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace runwarden::pipeline {

class Turnstile {
 public:
  // True: all names are taken. False: one of them is busy; `again` is called, from the thread of the one who leaves, when it is free.
  // Those who wait for a name are called in the order they came.
  bool enter(const std::vector<std::string>& names, std::function<void()> again);
  void leave(const std::vector<std::string>& names);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::vector<std::function<void()>>> busy_;  // a taken name, and who waits for it
};

}  // namespace runwarden::pipeline
