// A clock that stands still until a test turns it. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace runwarden::test {

class FakeClock final : public Clock {
 public:
  explicit FakeClock(std::int64_t wall_ms = 1'790'000'000'000) : wall_ms_(wall_ms) {}

  std::int64_t wall_ms() const override { return wall_ms_; }
  std::int64_t monotonic_ns() const override { return monotonic_ns_; }

  void advance_ms(std::int64_t ms) { advance_ns(ms * 1'000'000); }
  // Wall time goes on by whole milliseconds.
  void advance_ns(std::int64_t ns) {
    wall_ms_ += ns / 1'000'000;
    monotonic_ns_ += ns;
  }
  // As when the machine's time is set.
  void set_wall_ms(std::int64_t ms) { wall_ms_ = ms; }

 private:
  std::atomic<std::int64_t> wall_ms_;
  std::atomic<std::int64_t> monotonic_ns_{1'000'000'000};
};

}  // namespace runwarden::test
