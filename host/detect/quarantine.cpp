#include "detect/quarantine.h"

namespace runwarden::detect {

bool Quarantine::note_failure(std::int64_t now_ns, std::string_view why) {
  const MutexLock lock(mutex_);
  if (active_) return false;
  times_.push_back(now_ns);
  while (now_ns - times_.front() > window_ns_) times_.pop_front();
  if (times_.size() < static_cast<std::size_t>(failures_)) return false;
  reason_ = "failed " + std::to_string(failures_) + " times within " + std::to_string(window_ns_ / 1'000'000'000) + " s, last: ";
  reason_ += why;
  reason_ += "; skipped until the detectors are reloaded";
  active_.store(true, std::memory_order_release);
  return true;
}

std::string Quarantine::reason() const {
  const MutexLock lock(mutex_);
  return reason_;
}

}  // namespace runwarden::detect
