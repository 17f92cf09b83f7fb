// Which runs are open and due, in the table they share: whoever ends a run holds a claim of it, with a lease and a token. Any thread.
//
// A token that is odd is held, and `due_ms` is then the end of its lease; an even one is nobody's, and `due_ms` is when the run is to be looked at
// next. Events leave both alone, so that a row that was due too early is found out when it is looked at. Times are those of the database.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "model/records.h"
#include "store/postgres/database_clock.h"
#include "store/postgres/pool.h"
#include "store/queries.h"
#include "store/record_codec.h"
#include "store/writes.h"

namespace runwarden::store::postgres {

// What an open run waits for before it is due; numbers of the schema.
enum class Awaits : std::int16_t { events = 0, root = 1, spans = 2 };
Awaits awaited_by(const model::RunRecord& run);

// Whoever completed a run ends it; only when it has not done so for that long does somebody else.
constexpr std::int64_t kCompleterMs = 5'000;

constexpr bool is_held(std::int64_t token) { return token % 2 != 0; }
constexpr std::int64_t next_claim(std::int64_t token) { return token + (is_held(token) ? 2 : 1); }

// When an open run was heard of, by the database's clock.
struct HeardOf {
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
  std::optional<std::int64_t> root_ms;  // when the root of its trace came
  Awaits awaits = Awaits::events;
};
// When it is due, unless it is complete; and for what it then ends.
std::int64_t due_of(const HeardOf& heard, const BufferRules& rules);
model::Resolution ending_of(const HeardOf& heard, const BufferRules& rules);

// The rules that claim() was last asked by: a run that is opened is due by them. Any thread.
class RulesInUse {
 public:
  BufferRules now() const {
    const MutexLock lock(mutex_);
    return rules_;
  }
  // True: they are others than before.
  bool use(const BufferRules& rules) {
    const MutexLock lock(mutex_);
    const bool changed = rules != rules_;
    rules_ = rules;
    return changed;
  }

 private:
  mutable Mutex mutex_;
  BufferRules rules_ RW_GUARDED_BY(mutex_);
};

// Throws StoreAway where the database cannot be reached, and StoreError where a record cannot be read; claim() reports such a run, and leaves it open.
class OpenRunClaims {
 public:
  using Text = std::function<void(const std::string& text)>;
  OpenRunClaims(Pool& pool, const DatabaseClock& time, Text on_unreadable) : pool_(pool), time_(time), on_unreadable_(std::move(on_unreadable)) {}
  ~OpenRunClaims();  // gives back what it still holds
  OpenRunClaims(const OpenRunClaims&) = delete;
  OpenRunClaims& operator=(const OpenRunClaims&) = delete;

  // For the first host to start: nobody holds a claim, every run counts as heard of just now, so that clients that are retrying are not cut off, and
  // what is complete is due at once.
  void begin_anew(const BufferRules& rules = {});
  // Gives back every claim that this process still holds.
  void release_all();

  // Each as EventBuffer says.
  std::vector<Claim> claim(const BufferRules& rules, std::size_t most, std::int64_t lease_ms);
  std::optional<Claim> claim_run(model::TenantId tenant, const model::RecordKey& run, model::Resolution resolution, std::int64_t lease_ms);
  void release(const Claim& claim);
  std::vector<bool> renew(std::span<const Claim> claims, std::int64_t lease_ms);
  ClaimedRun fetch(const Claim& claim);

  const RulesInUse& rules() const { return rules_; }
  // Claims of this process that others have taken over.
  std::uint64_t lost() const { return lost_; }

 private:
  using RunId = std::pair<model::TenantId, std::string>;
  struct Held {
    std::uint64_t token = 0;
    std::int64_t until_ms = 0;
  };
  void note_held(const Claim& claim, std::int64_t until_ms);
  void reschedule(const BufferRules& rules);
  void grant_grace(const BufferRules& rules);
  std::vector<Claim> claim_due(const BufferRules& rules, std::size_t most, std::int64_t lease_ms);
  Claim claim_at(const Rows& rows, std::size_t row, const BufferRules& rules) const;

  Pool& pool_;
  const DatabaseClock& time_;
  const Text on_unreadable_;
  RulesInUse rules_;
  std::atomic<bool> to_reschedule_{false};
  std::atomic<std::uint64_t> lost_{0};
  mutable Mutex mutex_;
  std::optional<std::int64_t> away_since_ms_ RW_GUARDED_BY(mutex_);  // when the database could not be reached first
  std::map<RunId, Held> held_ RW_GUARDED_BY(mutex_);                 // claims that may still be good
  std::size_t look_through_at_ RW_GUARDED_BY(mutex_) = 64;           // entries of it
};

}  // namespace runwarden::store::postgres
