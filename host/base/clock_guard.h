// A clock for whatever deletes, expires or dates records: its wall time is the machine's only while that agrees with the monotonic clock.
//
// Each look at the time compares the two. When the machine's time has jumped by more than kMaxJumpMs since the look before, in either
// direction, or is implausible at the start, the guard is in doubt: wall_ms() goes on from the last time that was plausible, by the
// monotonic clock, until accept() is called or the machine's time is plausible again. Whoever deletes asks in_doubt() and waits. Any
// thread. The machine's clock outlives the guard.
#pragma once

#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.h"

namespace runwarden {

class ClockGuard final : public Clock {
 public:
  static constexpr std::int64_t kMaxJumpMs = 3'600'000;
  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

  // What is known of the time when records were last kept. Nothing of both: a store that is new.
  struct LastUse {
    std::optional<std::int64_t> noted_ms;   // as a guarded clock noted it
    std::optional<std::int64_t> newest_ms;  // of the newest record, whatever clock dated it
  };

  struct Times {
    std::int64_t expected_ms = 0;  // by the last plausible time and the monotonic clock
    std::int64_t machine_ms = 0;
  };
  struct Event {
    enum class Kind : std::uint8_t { jumped, started_ahead, started_behind, right_again, accepted };
    Kind kind = Kind::jumped;
    Times times;
  };

  explicit ClockGuard(const Clock& machine);

  std::int64_t wall_ms() const override;
  std::int64_t monotonic_ns() const override { return machine_.monotonic_ns(); }
  std::int64_t elapsed_ns() const override { return machine_.elapsed_ns(); }

  // Once, before the time is used: in doubt if the machine's time is more than max_ahead_ms after the last use (kNoLimit: however
  // much), or more than kMaxJumpMs before the time that was noted.
  void start(const LastUse& last_use, std::int64_t max_ahead_ms);

  // Looks at the time; true: the machine's is not to be gone by.
  bool in_doubt() const;
  // While in doubt: what wall_ms() and the machine say now.
  std::optional<Times> doubt() const;

  // An operator says that the machine's time is right. Nothing happens if it is not in doubt.
  void accept();

  // What has happened since the last call, for the log; at most kMostEvents, the first ones.
  static constexpr std::size_t kMostEvents = 32;
  std::vector<Event> take_events();

 private:
  // The machine's time as it may differ from the expected one and still be plausible.
  struct Window {
    std::int64_t behind_ms = kMaxJumpMs;
    std::int64_t ahead_ms = kMaxJumpMs;
    bool holds(std::int64_t difference_ms) const { return difference_ms >= -behind_ms && difference_ms <= ahead_ms; }
  };
  Times look() const;  // with the mutex held, as those below
  void follow(const Times& now) const;
  void note(Event::Kind kind, const Times& now) const;

  const Clock& machine_;
  mutable std::mutex mutex_;
  mutable std::int64_t base_wall_ms_;  // the last plausible time, and when that was
  mutable std::int64_t base_ns_;
  mutable bool in_doubt_ = false;
  mutable Window window_;                        // that ends the doubt
  mutable std::int64_t told_difference_ms_ = 0;  // while in doubt: of the jump that was noted last
  mutable std::vector<Event> events_;
};

}  // namespace runwarden
