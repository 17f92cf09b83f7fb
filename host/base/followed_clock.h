// The machine's clocks, until follow() replaces the wall clock by one that several hosts share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/clock.h"

namespace runwarden {

class FollowedClock final : public Clock {
 public:
  explicit FollowedClock(const Clock& machine) : machine_(machine) {}  // the machine's clock outlives it

  // Call at most once. Keeps `shared` alive.
  void follow(std::shared_ptr<const Clock> shared) {
    kept_ = std::move(shared);
    shared_.store(kept_.get(), std::memory_order_release);
  }

  // Any thread.
  std::int64_t wall_ms() const override {
    const Clock* const shared = shared_.load(std::memory_order_acquire);
    return shared != nullptr ? shared->wall_ms() : machine_.wall_ms();
  }
  std::int64_t monotonic_ns() const override { return machine_.monotonic_ns(); }
  std::int64_t elapsed_ns() const override { return machine_.elapsed_ns(); }

 private:
  const Clock& machine_;
  std::shared_ptr<const Clock> kept_;
  std::atomic<const Clock*> shared_{nullptr};
};

}  // namespace runwarden
