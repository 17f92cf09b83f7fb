// One token bucket a tenant: so many requests a second, and so many at once after a rest. Any thread.
//
// Holds one bucket a tenant that sent something; tenants are those of known keys.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/clock.h"
#include "model/records.h"

namespace runwarden::auth {

struct Rate {
  double requests_per_second = 0;  // 0: no limit
  std::int64_t burst = 0;          // 0: one second's worth, at least 1
};

class RateLimiter {
 public:
  RateLimiter(Rate rate, const Clock& clock);  // the clock outlives the limiter

  // Takes a token; or the seconds (at least 1) after which one is there.
  std::optional<int> take(model::TenantId tenant);

  // Another rate from now on. Buckets keep what they hold, up to the new burst.
  void change(Rate rate);

 private:
  struct Bucket {
    double tokens = 0;
    std::int64_t filled_ns = 0;
  };

  const Clock& clock_;
  std::mutex mutex_;  // guards what follows
  double per_second_ = 0;
  double burst_ = 0;
  std::unordered_map<model::TenantId, Bucket> buckets_;
};

}  // namespace runwarden::auth
