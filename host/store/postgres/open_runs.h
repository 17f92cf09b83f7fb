// Which runs are open and due, in a table that all hosts share. A host that ends a run holds a claim on it, with a lease and a token. Any
// thread.
//
// An odd token means that the run is held, and `due_ms` is the end of the lease. An even token means that it is free, and `due_ms` is when
// to look at it next. Events change neither, so a row may be looked at before the run is due. Times are those of the database.
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
#include "model/record_key.h"
#include "model/run_record.h"
#include "store/claim.h"
#include "store/postgres/database_clock.h"
#include "store/postgres/pool.h"
#include "store/queries.h"
#include "store/record_codec.h"

namespace runwarden::store::postgres {

// What an open run waits for before it is due; the numbers are part of the schema.
enum class Awaits : std::int16_t { events = 0, root = 1, spans = 2 };
Awaits awaited_by(const model::RunRecord& run);

// The host that completed a run ends it; other hosts do so only after this time.
constexpr std::int64_t kCompleterMs = 5'000;

constexpr bool is_held(std::int64_t token) { return token % 2 != 0; }
constexpr std::int64_t next_claim(std::int64_t token) { return token + (is_held(token) ? 2 : 1); }

// When something of an open run arrived, by the database's clock.
struct RunActivity {
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
  std::optional<std::int64_t> root_ms;  // when the root of its trace arrived
  Awaits awaits = Awaits::events;
};
// When the run is due, unless it is complete; and how it then ends.
std::int64_t due_of(const RunActivity& activity, const BufferRules& rules);
model::Resolution ending_of(const RunActivity& activity, const BufferRules& rules);

// The rules of the last call of claim(): a newly opened run is due by them. Any thread.
class RulesInUse {
 public:
  BufferRules now() const {
    const MutexLock lock(mutex_);
    return rules_;
  }
  // True: they differ from the previous ones.
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

// Throws StoreAway if the database cannot be reached, and StoreError if a record cannot be read; claim() reports such a run and leaves it
// open.
class OpenRunClaims {
 public:
  using Text = std::function<void(const std::string& text)>;
  OpenRunClaims(Pool& pool, const DatabaseClock& time, Text on_unreadable)
      : pool_(pool), time_(time), on_unreadable_(std::move(on_unreadable)) {}
  ~OpenRunClaims();  // releases the claims that it still holds
  OpenRunClaims(const OpenRunClaims&) = delete;
  OpenRunClaims& operator=(const OpenRunClaims&) = delete;

  // For the first host to start: frees all claims and makes complete runs due at once. All other runs count as heard of just now, so that
  // clients that are retrying are not cut off.
  void reset_claims(const BufferRules& rules = {});
  // Releases every claim that this process still holds.
  void release_all();

  // See EventBuffer.
  std::vector<Claim> claim(const BufferRules& rules, std::size_t most, std::int64_t lease_ms);
  std::optional<Claim> claim_run(model::TenantId tenant, const model::RecordKey& run, std::optional<model::Resolution> resolution,
                                 std::int64_t lease_ms);
  void release(const Claim& claim);
  std::vector<bool> renew(std::span<const Claim> claims, std::int64_t lease_ms);
  ClaimedRun fetch(const Claim& claim);

  const RulesInUse& rules() const { return rules_; }
  // Claims of this process that others have taken over.
  std::uint64_t lost() const { return lost_; }

 private:
  using RunId = std::pair<model::TenantId, std::string>;
  struct ClaimLease {
    std::uint64_t token = 0;
    std::int64_t until_ms = 0;
  };
  void note_lease(const Claim& claim, std::int64_t until_ms);
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
  std::optional<std::int64_t> away_since_ms_ RW_GUARDED_BY(mutex_);  // since when the database cannot be reached
  std::map<RunId, ClaimLease> claim_leases_ RW_GUARDED_BY(mutex_);   // claims that may still be valid
  std::size_t look_through_at_ RW_GUARDED_BY(mutex_) = 64;           // size of claim_leases_ at which expired claims are dropped
};

}  // namespace runwarden::store::postgres
