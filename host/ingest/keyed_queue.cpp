#include "ingest/keyed_queue.h"

#include <utility>

namespace runwarden::ingest {

bool KeyedQueue::enqueue(const std::vector<std::string>& keys, std::function<void()> resume) {
  auto waiter = std::make_shared<Waiter>();
  const MutexLock lock(mutex_);
  for (const std::string& key : keys) {
    auto& queue = queues_[key];
    waiter->blocked += queue.empty() ? 0 : 1;
    queue.push_back(waiter);
  }
  if (waiter->blocked == 0) return true;
  waiter->resume = std::move(resume);
  return false;
}

void KeyedQueue::release(const std::vector<std::string>& keys) {
  std::vector<std::function<void()>> ready;
  {
    const MutexLock lock(mutex_);
    for (const std::string& key : keys) {
      const auto found = queues_.find(key);
      auto& queue = found->second;
      queue.pop_front();
      if (queue.empty()) {
        queues_.erase(found);
      } else if (--queue.front()->blocked == 0) {
        ready.push_back(std::move(queue.front()->resume));
      }
    }
  }
  for (const auto& resume : ready) resume();
}

}  // namespace runwarden::ingest
