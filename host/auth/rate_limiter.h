// One token bucket per tenant: a sustained rate and a burst. Any thread.
//
// Holds one bucket for each tenant that has sent a request; tenants are limited to those of known keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"
#include "model/record_key.h"

namespace runwarden::auth {

struct Rate {
  double requests_per_second = 0;  // 0: no limit
  std::int64_t burst = 0;          // 0: one second's worth, at least 1
};

class RateLimiter {
 public:
  // Returns how many hosts share the rate, 1 or more: each gets an equal part of rate and burst. Called by take(), on the caller's thread.
  using Hosts = std::function<std::size_t()>;

  RateLimiter(
      Rate rate, const Clock& clock, Hosts hosts = [] { return std::size_t{1}; });  // the clock outlives the limiter

  // Takes a token, or returns the seconds (at least 1) until one is available.
  std::optional<int> take(model::TenantId tenant);

  // Changes the rate. Buckets keep their tokens, up to the new burst.
  void change(Rate rate);

 private:
  struct Bucket {
    double tokens = 0;
    std::int64_t filled_ns = 0;
  };

  void settle() RW_REQUIRES(mutex_);

  const Clock& clock_;
  const Hosts count_hosts_;
  Mutex mutex_;
  Rate rate_ RW_GUARDED_BY(mutex_);              // for all hosts together
  std::size_t hosts_ RW_GUARDED_BY(mutex_) = 1;  // on which per_second_ and burst_ are based
  double per_second_ RW_GUARDED_BY(mutex_) = 0;
  double burst_ RW_GUARDED_BY(mutex_) = 0;
  std::unordered_map<model::TenantId, Bucket> buckets_ RW_GUARDED_BY(mutex_);
};

}  // namespace runwarden::auth
