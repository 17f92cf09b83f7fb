// The wall clock and the monotonic clock of the service. Injected, so that tests can control them. Any thread.
#pragma once

#include <cstdint>

namespace runwarden {

class Clock {
 public:
  virtual ~Clock() = default;
  // Milliseconds since 1970-01-01T00:00:00Z; may jump when the machine's time is changed.
  virtual std::int64_t wall_ms() const = 0;
  // Nanoseconds since some fixed point; never goes back.
  virtual std::int64_t monotonic_ns() const = 0;
  // Likewise, but also advances while the machine sleeps. The wall time is compared with it.
  virtual std::int64_t elapsed_ns() const { return monotonic_ns(); }
};

// The machine's clocks.
class SystemClock final : public Clock {
 public:
  std::int64_t wall_ms() const override;
  std::int64_t monotonic_ns() const override;
  std::int64_t elapsed_ns() const override;
};

}  // namespace runwarden
