// A clock that a test turns. Any thread.
#pragma once

#include <atomic>

#include "base/clock.h"

namespace runwarden::auth {

class FakeClock final : public Clock {
 public:
  std::int64_t wall_ms() const override { return wall.load(); }
  std::int64_t monotonic_ns() const override { return monotonic.load(); }

  std::atomic<std::int64_t> wall = 1'800'000'000'000;
  std::atomic<std::int64_t> monotonic = 5'000'000'000;
};

}  // namespace runwarden::auth
