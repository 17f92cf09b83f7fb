#include "ops/canary.h"

#include <algorithm>
#include <utility>

namespace runwarden::ops {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

}  // namespace

bool Canary::fresh(std::int64_t now_ns) const {
  if (!outcome_ || in_flight_) return false;
  const std::int64_t keep_ms = outcome_->empty() ? limits_.interval_ms : std::min(limits_.interval_ms, limits_.retry_ms);
  return now_ns - sent_ns_ < keep_ms * kNsPerMs;
}

std::string Canary::overdue(std::int64_t now_ns) const {
  return "the canary run has not completed for " + std::to_string((now_ns - sent_ns_) / kNsPerMs) +
         " ms: the worker threads or the disk are overloaded or stuck; see runwarden_commit_queue_records and the log";
}

void Canary::check(Callback callback) {
  MutexLock lock(mutex_);
  const std::int64_t now_ns = clock_.monotonic_ns();
  if (fresh(now_ns)) {
    const std::string fault = *outcome_;
    lock.unlock();
    return callback(fault);
  }
  if (in_flight_ && now_ns - sent_ns_ >= limits_.timeout_ms * kNsPerMs) {
    const std::string fault = overdue(now_ns);
    lock.unlock();
    return callback(fault);
  }
  pending_.push_back({std::move(callback), now_ns});
  if (std::exchange(in_flight_, true)) return;
  sent_ns_ = now_ns;
  lock.unlock();
  send_([self = shared_from_this()](const std::string& fault) { self->complete(fault); });
}

void Canary::complete(const std::string& fault) {
  std::vector<PendingCheck> pending;
  {
    const MutexLock lock(mutex_);
    in_flight_ = false;
    pending.swap(pending_);
    if (!std::exchange(invalidated_, false)) outcome_ = fault;
  }
  for (const PendingCheck& one : pending) one.callback(fault);
}

void Canary::tick() {
  std::vector<PendingCheck> late;
  std::string fault;
  {
    const MutexLock lock(mutex_);
    const std::int64_t now_ns = clock_.monotonic_ns();
    const auto in_time = [&](const PendingCheck& one) { return now_ns - one.since_ns < limits_.timeout_ms * kNsPerMs; };
    const auto from = std::stable_partition(pending_.begin(), pending_.end(), in_time);
    std::move(from, pending_.end(), std::back_inserter(late));
    pending_.erase(from, pending_.end());
    fault = overdue(now_ns);
  }
  for (const PendingCheck& one : late) one.callback(fault);
}

void Canary::invalidate() {
  const MutexLock lock(mutex_);
  outcome_.reset();
  invalidated_ = in_flight_;
}

}  // namespace runwarden::ops
