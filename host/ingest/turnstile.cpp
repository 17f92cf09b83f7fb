#include "ingest/turnstile.h"

#include <utility>

namespace runwarden::ingest {

bool Turnstile::enter(const std::vector<std::string>& names, std::function<void()> turn) {
  auto visitor = std::make_shared<Visitor>();
  const MutexLock lock(mutex_);
  for (const std::string& name : names) {
    auto& line = lines_[name];
    visitor->blocked += line.empty() ? 0 : 1;
    line.push_back(visitor);
  }
  if (visitor->blocked == 0) return true;
  visitor->turn = std::move(turn);
  return false;
}

void Turnstile::leave(const std::vector<std::string>& names) {
  std::vector<std::function<void()>> turns;
  {
    const MutexLock lock(mutex_);
    for (const std::string& name : names) {
      const auto found = lines_.find(name);
      auto& line = found->second;
      line.pop_front();
      if (line.empty()) {
        lines_.erase(found);
      } else if (--line.front()->blocked == 0) {
        turns.push_back(std::move(line.front()->turn));
      }
    }
  }
  for (const auto& turn : turns) turn();
}

}  // namespace runwarden::ingest
