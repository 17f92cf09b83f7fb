// Knows which runs are open and when each is due; takes about a hundred bytes per run. Their events are in the store only.
//
// Any thread. Times are monotonic milliseconds, so setting the machine's clock neither ends a run nor keeps one open. After a start the
// times of a run go on, but clients that retry after an outage first have a tenth of its timeout, and at most 30 s.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "model/run_record.h"
#include "store/key_encoding.h"
#include "store/queries.h"

namespace runwarden::store {

class OpenRunIndex {
 public:
  enum class Part : std::uint8_t { more_to_come, complete };  // complete: due regardless of its times

  // What a run waits for: more events, the root of its trace, or, after the root, the rest of its spans.
  enum class Awaits : std::uint8_t { events, root, spans };

  struct State {
    std::uint32_t revision = 1;
    Part part = Part::more_to_come;
    Awaits awaits = Awaits::events;
  };

  // How long ago, when it is loaded, a run began and was last heard of.
  struct Age {
    std::int64_t begun_ms = 0;
    std::int64_t silent_ms = 0;
  };
  // A run found open at the start.
  void load(const RunKey& place, const State& state, const Age& age, std::int64_t now_ms);
  // Events arrived. A new revision restarts the run's age.
  void note_activity(const RunKey& place, const State& state, std::int64_t now_ms);
  void ended(const RunKey& place);

  struct Due {
    RunKey place;
    model::Resolution resolution = model::Resolution::idle;  // for a run that is not complete
    std::uint64_t token = 0;
  };
  struct Lease {
    std::size_t most = 0;
    std::int64_t lease_ms = 0;
  };
  // Each claim of a run has its own token, and invalidates the claim before it.
  std::vector<Due> claim(const BufferRules& rules, const Lease& lease, std::int64_t now_ms);
  std::optional<std::uint64_t> claim_one(const RunKey& place, std::int64_t lease_ms, std::int64_t now_ms);
  void release(const RunKey& place, std::uint64_t token, std::int64_t now_ms);
  bool renew(const RunKey& place, std::uint64_t token, std::int64_t leased_until_ms);
  bool holds(const RunKey& place, std::uint64_t token);

  std::vector<RunKey> places() const;
  // Cheap at any number of runs, because every request with events calls it. The age is exact to about a second.
  OpenRuns count(std::int64_t now_ms) const;

 private:
  struct Entry {
    std::int64_t first_ms = 0;
    std::int64_t last_ms = 0;
    std::optional<std::int64_t> root_ms;    // when the root of its trace arrived; of a loaded run: when it was last heard of
    std::optional<std::int64_t> loaded_ms;  // until it is heard of
    std::int64_t leased_until_ms = 0;
    std::int64_t complete_at_ms = -1;  // when the completing request has had its time to end it; -1: not complete
    std::int64_t next_check_ms = 0;    // the only queued check that counts
    std::uint64_t token = 0;           // of the valid claim; 0: none
    std::uint32_t revision = 1;
    Awaits awaits = Awaits::events;
    bool counted = false;  // in ages_
  };
  struct Check {
    std::int64_t at_ms = 0;
    RunKey place;
    bool operator<(const Check& other) const { return at_ms > other.at_ms; }  // the queue pops the greatest first
  };
  struct Hash {
    std::size_t operator()(const RunKey& place) const {
      return (place.key.seq * 0x9E3779B97F4A7C15u) ^ (static_cast<std::uint64_t>(place.key.time_ms) << 20) ^ place.tenant;
    }
  };

  static std::int64_t age_bucket(std::int64_t first_ms) { return first_ms >> 10; }  // 1024 ms; rounds down, also below 0
  void set_first(Entry& entry, std::int64_t first_ms) RW_REQUIRES(mutex_);
  void uncount(const Entry& entry) RW_REQUIRES(mutex_);
  static void await(Entry& entry, Awaits what, std::int64_t heard_ms);
  std::int64_t idle_due_ms(const Entry& entry) const RW_REQUIRES(mutex_);
  std::int64_t due_ms(const Entry& entry) const RW_REQUIRES(mutex_);
  void schedule(const RunKey& place, Entry& entry, std::int64_t at_ms) RW_REQUIRES(mutex_);
  void schedule_all() RW_REQUIRES(mutex_);
  std::uint64_t lease(Entry& entry, std::int64_t until_ms) RW_REQUIRES(mutex_);
  Entry* claimed(const RunKey& place, std::uint64_t token) RW_REQUIRES(mutex_);

  mutable Mutex mutex_;
  BufferRules rules_ RW_GUARDED_BY(mutex_);
  std::uint64_t last_token_ RW_GUARDED_BY(mutex_) = 0;
  std::unordered_map<RunKey, Entry, Hash> entries_ RW_GUARDED_BY(mutex_);
  std::priority_queue<Check> checks_ RW_GUARDED_BY(mutex_);
  // Bucket of first_ms -> runs; at most one bucket for each second of buffer.max_age.
  std::map<std::int64_t, std::uint64_t> ages_ RW_GUARDED_BY(mutex_);
};

}  // namespace runwarden::store
