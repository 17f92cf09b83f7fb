#include "app/canary.h"

#include <algorithm>
#include <utility>

namespace runwarden::app {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

}  // namespace

bool Canary::fresh(std::int64_t now_ns) const {
  if (!outcome_ || under_way_) return false;
  const std::int64_t keep_ms = outcome_->empty() ? limits_.interval_ms : std::min(limits_.interval_ms, limits_.again_ms);
  return now_ns - sent_ns_ < keep_ms * kNsPerMs;
}

std::string Canary::overdue(std::int64_t now_ns) const {
  return "the canary run has not come back for " + std::to_string((now_ns - sent_ns_) / kNsPerMs) +
         " ms: the threads that judge, or the disk, are busy or stuck; see runwarden_commit_queue_records and the log";
}

void Canary::ask(Told told) {
  std::unique_lock lock(mutex_);
  const std::int64_t now_ns = clock_.monotonic_ns();
  if (fresh(now_ns)) {
    const std::string fault = *outcome_;
    lock.unlock();
    return told(fault);
  }
  if (under_way_ && now_ns - sent_ns_ >= limits_.bound_ms * kNsPerMs) {
    const std::string fault = overdue(now_ns);
    lock.unlock();
    return told(fault);
  }
  waiting_.push_back({std::move(told), now_ns});
  if (std::exchange(under_way_, true)) return;
  sent_ns_ = now_ns;
  lock.unlock();
  send_([self = shared_from_this()](std::string fault) { self->came_back(std::move(fault)); });
}

void Canary::came_back(std::string fault) {
  std::vector<Waiting> waiting;
  {
    const std::lock_guard lock(mutex_);
    under_way_ = false;
    waiting.swap(waiting_);
    if (!std::exchange(forgotten_, false)) outcome_ = fault;
  }
  for (const Waiting& one : waiting) one.told(fault);
}

void Canary::tick() {
  std::vector<Waiting> late;
  std::string fault;
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t now_ns = clock_.monotonic_ns();
    const auto in_time = [&](const Waiting& one) { return now_ns - one.since_ns < limits_.bound_ms * kNsPerMs; };
    const auto from = std::stable_partition(waiting_.begin(), waiting_.end(), in_time);
    std::move(from, waiting_.end(), std::back_inserter(late));
    waiting_.erase(from, waiting_.end());
    fault = overdue(now_ns);
  }
  for (const Waiting& one : late) one.told(fault);
}

void Canary::forget() {
  const std::lock_guard lock(mutex_);
  outcome_.reset();
  forgotten_ = under_way_;
}

}  // namespace runwarden::app
