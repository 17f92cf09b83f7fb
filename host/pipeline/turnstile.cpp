#include "pipeline/turnstile.h"

#include <utility>

namespace runwarden::pipeline {

bool Turnstile::enter(const std::vector<std::string>& names, std::function<void()> again) {
  const std::lock_guard lock(mutex_);
  for (const std::string& name : names) {
    const auto busy = busy_.find(name);
    if (busy == busy_.end()) continue;
    busy->second.push_back(std::move(again));
    return false;
  }
  for (const std::string& name : names) busy_.try_emplace(name);
  return true;
}

void Turnstile::leave(const std::vector<std::string>& names) {
  std::vector<std::function<void()>> waiting;
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& name : names) {
      auto busy = busy_.extract(name);
      if (busy.empty()) continue;
      for (auto& caller : busy.mapped()) waiting.push_back(std::move(caller));
    }
  }
  for (const auto& caller : waiting) caller();
}

}  // namespace runwarden::pipeline
