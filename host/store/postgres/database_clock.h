// The database's time, which all of its hosts use: this host's monotonic clock and its offset from the database's clock. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "base/clock.h"
#include "store/postgres/connection.h"
#include "store/postgres/rows.h"

namespace runwarden::store::postgres {

class DatabaseClock final : public Clock {
 public:
  // Whose time it is. `host`: that of the given clock at construction, unaffected by look(); for tests, which drive that clock.
  enum class Source : std::uint8_t { database, host };
  explicit DatabaseClock(const Clock& clock, Source source = Source::database)
      : clock_(clock), source_(source), offset_ms_(clock.wall_ms() - monotonic_ms()) {}

  // UTC milliseconds. The host's time until look() is called.
  std::int64_t now_ms() const { return monotonic_ms() + offset_ms_.load(std::memory_order_relaxed); }
  std::int64_t wall_ms() const override { return now_ms(); }
  std::int64_t monotonic_ns() const override { return clock_.monotonic_ns(); }
  std::int64_t elapsed_ns() const override { return clock_.elapsed_ns(); }

  // Asks the database. Keeps the answer of the shortest round trip so far, unless a later one differs by more than its own margin of error.
  // Throws PgFault.
  void look(Connection& connection) {
    if (source_ == Source::host) return;
    const std::int64_t sent_ns = clock_.monotonic_ns();
    const Rows rows = connection.query("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint");
    const std::int64_t round_trip_ns = clock_.monotonic_ns() - sent_ns;
    const std::int64_t offset_ms = rows.number(0, 0) - (sent_ns + round_trip_ns / 2) / 1'000'000;
    const std::int64_t doubt_ms = round_trip_ns / 2'000'000 + 1;
    const std::int64_t step_ms = offset_ms - offset_ms_.load(std::memory_order_relaxed);
    if (best_ns_ != kNone && round_trip_ns > best_ns_ && step_ms <= doubt_ms && step_ms >= -doubt_ms) return;
    best_ns_ = round_trip_ns;
    offset_ms_.store(offset_ms, std::memory_order_relaxed);
  }

  // How far this machine's wall clock is ahead of the database's.
  std::int64_t machine_offset_ms() const { return SystemClock().wall_ms() - now_ms(); }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::int64_t monotonic_ms() const { return clock_.monotonic_ns() / 1'000'000; }

  const Clock& clock_;
  const Source source_;
  std::atomic<std::int64_t> offset_ms_;
  std::int64_t best_ns_ = kNone;  // used by look() only: one thread at a time
};

}  // namespace runwarden::store::postgres
