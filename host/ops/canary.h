// The canary run behind /readyz: keeps the outcome of the last one while it is fresh, and the callbacks that wait for the one in flight. At
// most one is in flight, however many requests ask for it.
//
// Any thread; nothing blocks. Callbacks run on the caller's thread, in tick(), or on the thread that completes the canary.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace runwarden::ops {

class Canary : public std::enable_shared_from_this<Canary> {
 public:
  struct Limits {
    std::int64_t interval_ms = 30'000;  // between canaries while they succeed
    std::int64_t retry_ms = 1'000;      // after one that failed
    std::int64_t timeout_ms = 5'000;    // maximum wait of a caller
  };
  using Callback = std::function<void(const std::string& fault)>;      // empty: success
  using Send = std::function<void(std::function<void(std::string)>)>;  // starts a canary; calls back once with its fault, or never

  static std::shared_ptr<Canary> make(Send send, Limits limits, const Clock& clock) {
    return std::shared_ptr<Canary>(new Canary(std::move(send), limits, clock));
  }

  // Calls `callback` once, now or later.
  void check(Callback callback);
  // Call several times a second: completes the callbacks that have waited too long.
  void tick();
  // Discards the last outcome, because a component that it tested was replaced.
  void invalidate();

 private:
  struct PendingCheck {
    Callback callback;
    std::int64_t since_ns = 0;
  };
  Canary(Send send, Limits limits, const Clock& clock) : send_(std::move(send)), limits_(limits), clock_(clock) {}

  bool fresh(std::int64_t now_ns) const RW_REQUIRES(mutex_);
  std::string overdue(std::int64_t now_ns) const RW_REQUIRES(mutex_);
  void complete(const std::string& fault);

  Send send_;
  Limits limits_;
  const Clock& clock_;
  Mutex mutex_;
  std::vector<PendingCheck> pending_ RW_GUARDED_BY(mutex_);
  bool in_flight_ RW_GUARDED_BY(mutex_) = false;
  bool invalidated_ RW_GUARDED_BY(mutex_) = false;  // while it was in flight
  std::int64_t sent_ns_ RW_GUARDED_BY(mutex_) = 0;
  std::optional<std::string> outcome_ RW_GUARDED_BY(mutex_);
};

}  // namespace runwarden::ops
