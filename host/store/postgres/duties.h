// What one host does for all: deletes what is too old, and stores crash marks. Any thread. Throws StoreAway and StoreError.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/clock_guard.h"
#include "base/mutex.h"
#include "model/crash_mark.h"
#include "store/maintenance.h"
#include "store/postgres/database_clock.h"
#include "store/postgres/pool.h"
#include "store/postgres/watch.h"

namespace runwarden::store::postgres {

struct DutyRules {
  std::int64_t start = 0;  // this process's number
  std::int64_t keep_idempotency_ms = 0;
  std::uint64_t max_clusters = 0;
  std::function<std::uint64_t()> next_seq;
};

// When the store was last in use, according to its records and the hosts' note of the time. Throws PgFault.
ClockGuard::LastUse read_last_use(Connection& connection);

class Duties {
 public:
  Duties(Pool& pool, const DatabaseClock& clock, Watch& watch, DutyRules rules)
      : pool_(pool), clock_(clock), watch_(watch), rules_(std::move(rules)) {}
  ~Duties();  // gives up its duty
  Duties(const Duties&) = delete;
  Duties& operator=(const Duties&) = delete;

  // See Maintenance. Retention of all tenants is the duty of one host at a time; other hosts delete nothing and report that there is no
  // more.
  Expired expire(const Retention& retention, std::size_t most);

  // Makes the missing partitions of today and the next days.
  void prepare_partitions();

  // Whether this host has that duty.
  bool has_duty() const { return duty_until_ms_ > clock_.now_ms(); }
  Expired deleted() const;  // by this process: retention and purges

  void note_clock(std::int64_t wall_ms, std::uint64_t accepts);
  ClockGuard::LastUse last_use();

  void put_crash_mark(const model::CrashMark& mark);  // with its key set
  std::vector<model::CrashMark> crash_marks();

 private:
  bool take_duty(Connection& connection, std::int64_t now_ms);
  Expired expire_some(Connection& connection, const Retention& retention, std::size_t most);
  void tidy(const Retention& retention);
  void forget_hosts(std::int64_t now_ms);
  void drop_empty_partitions(std::int64_t before_ms);

  Pool& pool_;
  const DatabaseClock& clock_;
  Watch& watch_;
  const DutyRules rules_;
  std::atomic<std::int64_t> duty_until_ms_{0};  // 0: it never had it
  mutable Mutex mutex_;
  Expired deleted_ RW_GUARDED_BY(mutex_);
  std::atomic<std::int64_t> tidied_ms_{0};
  std::atomic<std::int64_t> partitions_to_ms_{0};  // partitions are made up to this time
};

}  // namespace runwarden::store::postgres
