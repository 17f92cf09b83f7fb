#include "base/clock.h"

#include <time.h>

#include <chrono>

namespace runwarden {

std::int64_t SystemClock::wall_ms() const {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::int64_t SystemClock::monotonic_ns() const {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

std::int64_t SystemClock::elapsed_ns() const {
  timespec now{};
  if (::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return monotonic_ns();
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace runwarden
