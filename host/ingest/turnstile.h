// Lets one request at a time through for each name: a second one for the same run, or under the same Idempotency-Key,
// waits until the first is done. Any thread; nothing blocks, who has to wait is called when it is its turn.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"

namespace runwarden::ingest {

class Turnstile {
 public:
  // Lines up for all names at once, behind those that came before; no name twice. True: they are free, and taken now. False: one
  // is busy; `turn` is called, from the thread of the one who leaves, when all are taken for this one. Either way leave() ends it.
  bool enter(const std::vector<std::string>& names, std::function<void()> turn);
  // By who is inside, with the names it entered with.
  void leave(const std::vector<std::string>& names);

 private:
  struct Visitor {
    std::function<void()> turn;
    std::size_t blocked = 0;  // names that others hold or wait for before it
  };

  Mutex mutex_;
  std::unordered_map<std::string, std::deque<std::shared_ptr<Visitor>>> lines_ RW_GUARDED_BY(mutex_);  // who is inside comes first
};

}  // namespace runwarden::ingest
