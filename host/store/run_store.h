// Stored runs, failures, changes and policies: found by id, listed, counted.
//
// Any thread. Throws StoreError if a record cannot be read; lists leave it out and go on.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/change_record.h"
#include "model/failure_record.h"
#include "model/record_key.h"
#include "model/run_record.h"
#include "store/errors.h"
#include "store/queries.h"
#include "store/write_result.h"

namespace runwarden::store {

// The answer to an idempotency identity, and the content it was for.
struct Replay {
  model::Digest content{};
  model::RunRecord run;  // for a run: the revision in the answer; for events: the run as it is now
  std::optional<Buffered> buffered = std::nullopt;
  std::optional<model::ChangeRecord> change = std::nullopt;
  std::optional<model::PolicyRecord> policy = std::nullopt;
};

// What must be looked up before a run that came whole is judged.
struct LookUp {
  model::TenantId tenant = 0;
  std::optional<std::string> run_id = std::nullopt;  // the client's
  std::optional<model::Digest> identity = std::nullopt;
  std::int64_t at_ms = 0;  // when the run executed
};
struct LookedUp {
  bool has_run = true;       // false: there is certainly no run with that id
  bool has_identity = true;  // likewise
  std::vector<model::PolicyInForce> policies;  // by name
  std::exception_ptr fault = nullptr;          // why the look-up failed; a StoreError
};

class RunStore {
 public:
  virtual ~RunStore() = default;

  // Returns the answer if that takes no waiting. Otherwise calls `then` with it once, on a thread of the store that it must not hold up.
  virtual std::optional<LookedUp> look_up(const LookUp& asked, [[maybe_unused]] std::function<void(LookedUp)> then) {
    LookedUp known;
    known.policies = in_force_at(asked.tenant, asked.at_ms);
    return known;
  }

  // A number that was never returned before, even before a restart: the seq of a RecordKey.
  virtual std::uint64_t next_seq() = 0;

  // A run without its document and arrays, but with its outline and the size of its JSON (json_bytes). With a revision: that one, if it was
  // resolved or is the current one.
  virtual std::optional<model::RunRecord> run_head(model::TenantId tenant, std::string_view run_id,
                                                   std::optional<std::uint32_t> revision) = 0;
  // The current run; an open one has no document yet. With a revision: that one, if it was resolved.
  virtual std::optional<model::RunRecord> find_run(model::TenantId tenant, std::string_view run_id) = 0;
  virtual std::optional<model::RunRecord> find_revision(model::TenantId tenant, std::string_view run_id, std::uint32_t revision) = 0;
  virtual std::optional<model::RunRecord> run_at(model::TenantId tenant, const model::RecordKey& key) = 0;
  virtual std::optional<model::FailureRecord> find_failure(model::TenantId tenant, std::string_view failure_id) = 0;
  // The runs, or the failures, at these keys, read at once. As many as there are keys, in their order; nothing for one that is not stored
  // or cannot be read, which is reported. The caller bounds how many bytes that makes.
  virtual std::vector<std::optional<model::RunRecord>> runs_at(model::TenantId tenant, std::span<const model::RecordKey> keys) = 0;
  virtual std::vector<std::optional<model::FailureRecord>> failures_at(model::TenantId tenant, std::span<const model::RecordKey> keys) = 0;
  // All events of an open run so far, oldest first, including those of previous revisions. `from`: how many of the first ones to skip.
  virtual std::vector<std::string> events(model::TenantId tenant, const model::RecordKey& run, std::uint32_t from = 0) = 0;
  virtual std::optional<Replay> find_replay(model::TenantId tenant, const model::Digest& identity) = 0;

  virtual Page<model::RunRecord> runs(model::TenantId tenant, const RunQuery& query) = 0;  // heads
  virtual Page<model::FailureRecord> failures(model::TenantId tenant, const FailureQuery& query) = 0;
  virtual Page<model::ChangeRecord> changes(model::TenantId tenant, const ChangeQuery& query) = 0;
  virtual Page<model::PolicyRecord> policies(model::TenantId tenant, const PolicyQuery& query) = 0;

  // The latest revision that is in force at that time, of a policy or of each policy (sorted by name).
  virtual std::optional<model::PolicyRecord> policy_at(model::TenantId tenant, std::string_view policy, std::int64_t at_ms) = 0;
  virtual std::vector<model::PolicyRecord> policies_at(model::TenantId tenant, std::int64_t at_ms) = 0;
  // The same without their documents, which may be large.
  std::vector<model::PolicyInForce> in_force_at(model::TenantId tenant, std::int64_t at_ms) {
    std::vector<model::PolicyInForce> in_force;
    for (model::PolicyRecord& one : policies_at(tenant, at_ms))
      in_force.push_back({std::move(one.policy), std::move(one.revision), one.content});
    return in_force;
  }

  // Counted, not walked: cheap at any number of records. From inclusive, before exclusive.
  virtual FingerprintStats fingerprint_stats(model::TenantId tenant, std::string_view fingerprint) = 0;
  virtual std::uint64_t count_failures(model::TenantId tenant, std::string_view fingerprint, std::int64_t from_ms,
                                       std::int64_t before_ms) = 0;
  virtual std::uint64_t count_runs(model::TenantId tenant, std::int64_t from_ms, std::int64_t before_ms) = 0;

  // What the last CanaryWrite stored.
  virtual std::optional<model::RunRecord> canary() = 0;
};

}  // namespace runwarden::store
