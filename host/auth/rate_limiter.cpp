#include "auth/rate_limiter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace runwarden::auth {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kLongestWaitS = 3600;

}  // namespace

RateLimiter::RateLimiter(Rate rate, const Clock& clock, Hosts hosts) : clock_(clock), count_hosts_(std::move(hosts)) {
  change(rate);
}

void RateLimiter::change(Rate rate) {
  const MutexLock lock(mutex_);
  rate_ = rate;
  settle();
}

void RateLimiter::settle() {
  const auto hosts = static_cast<double>(hosts_);
  per_second_ = rate_.requests_per_second / hosts;
  burst_ = rate_.burst > 0 ? std::max(1.0, static_cast<double>(rate_.burst) / hosts) : std::max(1.0, std::ceil(per_second_));
}

std::optional<int> RateLimiter::take(model::TenantId tenant) {
  const std::size_t hosts = std::max<std::size_t>(count_hosts_(), 1);
  const MutexLock lock(mutex_);
  if (hosts != hosts_) {
    hosts_ = hosts;
    settle();
  }
  if (per_second_ <= 0) return std::nullopt;
  const std::int64_t now_ns = clock_.monotonic_ns();
  auto [found, fresh] = buckets_.try_emplace(tenant, Bucket{burst_, now_ns});
  Bucket& bucket = found->second;
  // Another thread may have read a slightly later time already; time must not go back.
  const double elapsed_s = static_cast<double>(std::max<std::int64_t>(0, now_ns - bucket.filled_ns)) / kNsPerSecond;
  bucket.tokens = std::min(burst_, bucket.tokens + elapsed_s * per_second_);
  bucket.filled_ns = std::max(bucket.filled_ns, now_ns);
  // Sums of fractions can fall slightly short of a whole token.
  constexpr double kWhole = 1 - 1e-9;
  if (bucket.tokens >= kWhole) {
    bucket.tokens = std::max(0.0, bucket.tokens - 1);
    return std::nullopt;
  }
  return static_cast<int>(std::clamp(std::ceil((kWhole - bucket.tokens) / per_second_), 1.0, kLongestWaitS));
}

}  // namespace runwarden::auth
