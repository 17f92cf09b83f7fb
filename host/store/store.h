// Where records are kept. Speaks in whole batches and knows no engine's words, so that another engine can stand in its place.
//
// Threads: writes (commit, put_key, touch_keys, put_crash_mark, note_clock, expire, tend) come from one thread at a time; everything else
// may be called from any thread. A write that returned is on stable storage. A fault of the medium (an fsync error) is thrown as
// FatalStoreError: what was asked for is then in doubt, nothing more may be acknowledged, and the process has to end.
// StoreError says that one thing could not be read or done; the store goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/records.h"
#include "store/queries.h"
#include "store/writes.h"

namespace runwarden::store {

struct FatalStoreError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct StoreError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// After how long it is worth to send again what a store without room refused: an operator, or deletion, has to make some.
constexpr int kStoreFullRetryS = 30;

struct Space {
  std::uint64_t map_bytes = 0;   // the most the store may grow to
  std::uint64_t used_bytes = 0;  // pages that hold records
  std::uint64_t file_bytes = 0;
  bool refusing = false;  // no room for another run now
  std::string reason;     // why, and the remedy
};

class Store {
 public:
  virtual ~Store() = default;

  // Does what of a write needs no place in the order (encoding, compression), so that the writing thread need not. Optional;
  // any thread, before commit(), and the write must not be changed after it.
  virtual void prepare(Write& /*write*/) {}

  // All in one transaction, in order; results stand in the order of the writes. What does not fit is `unavailable`, the rest stands.
  virtual std::vector<WriteResult> commit(std::span<const Write> batch) = 0;

  // A number never handed out before, also across restarts: the seq of a RecordKey.
  virtual std::uint64_t next_seq() = 0;

  // A run without its document and arrays, but with its outline and how much JSON it makes (json_bytes). With a revision: that one, if it
  // was resolved or is the current one.
  virtual std::optional<model::RunRecord> run_head(model::TenantId tenant, std::string_view run_id,
                                                   std::optional<std::uint32_t> revision) = 0;
  // A run as it stands; one that is open has no document yet. With a revision: that one, if it was resolved.
  virtual std::optional<model::RunRecord> find_run(model::TenantId tenant, std::string_view run_id) = 0;
  virtual std::optional<model::RunRecord> find_revision(model::TenantId tenant, std::string_view run_id, std::uint32_t revision) = 0;
  virtual std::optional<model::RunRecord> run_at(model::TenantId tenant, const model::RecordKey& key) = 0;
  virtual std::optional<model::FailureRecord> find_failure(model::TenantId tenant, std::string_view failure_id) = 0;

  virtual Page<model::RunRecord> runs(model::TenantId tenant, const RunQuery& query) = 0;  // heads
  virtual Page<model::FailureRecord> failures(model::TenantId tenant, const FailureQuery& query) = 0;
  virtual Page<model::ChangeRecord> changes(model::TenantId tenant, const ChangeQuery& query) = 0;
  virtual Page<model::PolicyRecord> policies(model::TenantId tenant, const PolicyQuery& query) = 0;

  // The latest revision of a policy, or of each (sorted by name), that is in force then.
  virtual std::optional<model::PolicyRecord> policy_at(model::TenantId tenant, std::string_view policy, std::int64_t at_ms) = 0;
  virtual std::vector<model::PolicyRecord> policies_at(model::TenantId tenant, std::int64_t at_ms) = 0;

  // Counted, not walked: cheap at any number of records. From inclusive, before exclusive.
  virtual FingerprintStats fingerprint_stats(model::TenantId tenant, std::string_view fingerprint) = 0;
  virtual std::uint64_t count_failures(model::TenantId tenant, std::string_view fingerprint, std::int64_t from_ms,
                                       std::int64_t before_ms) = 0;
  virtual std::uint64_t count_runs(model::TenantId tenant, std::int64_t from_ms, std::int64_t before_ms) = 0;

  // All events of an open run so far, oldest first; also those of former revisions.
  virtual std::vector<std::string> events(model::TenantId tenant, const model::RecordKey& run) = 0;
  // Open runs that are to be ended, at most that many; nobody else is given them until the lease ends. Time runs by the
  // monotonic clock; after a start every run is taken as just heard of.
  virtual std::vector<Claim> claim(const BufferRules& rules, std::size_t most, std::int64_t lease_ms) = 0;
  // That open run, to be ended for that reason unless one is set already; nothing while another holds it, or if it is not open.
  virtual std::optional<Claim> claim_run(model::TenantId tenant, const model::RecordKey& run, model::Resolution resolution,
                                         std::int64_t lease_ms) = 0;
  // Gives a claim back unused.
  virtual void release(const Claim& claim) = 0;
  virtual ClaimedRun fetch(const Claim& claim) = 0;
  virtual OpenRuns open_runs() = 0;

  // What was answered to that idempotency identity, and the content it was for.
  struct Replay {
    model::Digest content{};
    model::RunRecord run;  // of a run: the revision that was answered; of events: as it stands now
    std::optional<Buffered> buffered = std::nullopt;
    std::optional<model::ChangeRecord> change = std::nullopt;
    std::optional<model::PolicyRecord> policy = std::nullopt;
  };
  virtual std::optional<Replay> find_replay(model::TenantId tenant, const model::Digest& identity) = 0;

  // Adds the key, or replaces the one of that id; makes its tenant if the name is new and fills in the tenant id.
  // Throws StoreError when there is no room for it.
  virtual model::KeyRecord put_key(model::KeyRecord key) = 0;
  virtual std::vector<model::KeyRecord> keys() = 0;
  // Changes whenever a key was added or changed, by whichever process; cheap enough for every request.
  virtual std::uint64_t keys_version() = 0;
  // Notes when keys were last used; does not change keys_version().
  virtual void touch_keys(std::span<const std::pair<std::string, std::int64_t>> last_used) = 0;
  virtual std::vector<model::Tenant> tenants() = 0;

  // Keeps a crash mark; its key is given here. Throws StoreError when there is no room for it.
  virtual void put_crash_mark(model::CrashMark mark) = 0;
  virtual std::vector<model::CrashMark> crash_marks() = 0;

  // Notes that the store is in use at that time, which has to be of a guarded clock: the next start compares its own with it. Nothing
  // happens if clock_accepts() says something else by now: what an operator confirmed is not written over. Throws StoreError when there
  // is no room for it.
  virtual void note_clock(std::int64_t wall_ms, std::uint64_t accepts) = 0;
  // Grows each time an operator confirms the clock, from whichever process.
  virtual std::uint64_t clock_accepts() = 0;

  // Deletes at most that many records, oldest first, in one transaction. Works also when there is no room for anything else.
  virtual Expired expire(const Retention& retention, std::size_t most) = 0;
  // Housekeeping: to be called by the writing thread at least once a minute.
  virtual void tend() {}

  // What the last CanaryWrite stored.
  virtual std::optional<model::RunRecord> canary() = 0;

  virtual Space space() = 0;
  // Whether a write would succeed now, and why not.
  virtual Status writable() = 0;
  // What of the store was found damaged, and the remedy; empty: nothing so far. Requests that meet it fail, others do not.
  virtual std::string damage() { return {}; }
};

}  // namespace runwarden::store
