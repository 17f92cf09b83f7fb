// A clock for code that deletes, expires or dates records. Follows the machine's wall time only while it agrees with the monotonic clock.
//
// Each reading compares the two. If the wall time has jumped by more than kMaxJumpMs in either direction since the previous reading, or is
// implausible at the start, the guard is in doubt: wall_ms() continues from the last plausible time by the monotonic clock until accept()
// is called or the wall time is plausible again. Code that deletes checks in_doubt() and waits. Any thread. The machine's clock outlives
// the guard.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace runwarden {

class ClockGuard final : public Clock {
 public:
  static constexpr std::int64_t kMaxJumpMs = 3'600'000;
  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

  // What is known about the last use of the store. Both empty: the store is new.
  struct LastUse {
    std::optional<std::int64_t> noted_ms;   // saved from a guarded clock
    std::optional<std::int64_t> newest_ms;  // of the newest record, from any clock
  };

  struct Times {
    std::int64_t expected_ms = 0;  // the last plausible time plus monotonic time
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

  // Call once before the first reading; until then the machine's clock may be replaced. In doubt if the machine's time is more than
  // max_ahead_ms after the last use (kNoLimit: no bound) or more than kMaxJumpMs before the saved time.
  void start(const LastUse& last_use, std::int64_t max_ahead_ms);

  // Reads the time. True: the machine's time must not be trusted.
  bool in_doubt() const;
  // While in doubt: the current times of wall_ms() and of the machine.
  std::optional<Times> doubt() const;

  // An operator confirms that the machine's time is right. No effect if not in doubt.
  void accept();

  // The events since the last call, for the log; only the first kMostEvents.
  static constexpr std::size_t kMostEvents = 32;
  std::vector<Event> take_events();

 private:
  // How far the machine's time may differ from the expected time and still be plausible.
  struct Window {
    std::int64_t behind_ms = kMaxJumpMs;
    std::int64_t ahead_ms = kMaxJumpMs;
    bool holds(std::int64_t difference_ms) const { return difference_ms >= -behind_ms && difference_ms <= ahead_ms; }
  };
  Times look() const RW_REQUIRES(mutex_);
  void follow(const Times& now) const RW_REQUIRES(mutex_);
  void note(Event::Kind kind, const Times& now) const RW_REQUIRES(mutex_);

  const Clock& machine_;
  mutable Mutex mutex_;
  mutable std::int64_t base_wall_ms_ RW_GUARDED_BY(mutex_);  // the last plausible time, and its monotonic time
  mutable std::int64_t base_ns_ RW_GUARDED_BY(mutex_);
  mutable bool in_doubt_ RW_GUARDED_BY(mutex_) = false;
  mutable Window window_ RW_GUARDED_BY(mutex_);                         // a difference inside it ends the doubt
  mutable std::int64_t noted_difference_ms_ RW_GUARDED_BY(mutex_) = 0;  // while in doubt: the jump noted last
  mutable std::vector<Event> events_ RW_GUARDED_BY(mutex_);
};

}  // namespace runwarden
