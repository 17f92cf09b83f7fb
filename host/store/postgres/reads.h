// Runs, failures, changes and policies in the database: found by id, listed, counted. Any thread.
//
// Data that must agree is read by one statement. Throws StoreAway if the database cannot be reached, and StoreError if a record cannot be
// read; lists report such a record, skip it and go on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/postgres/database_clock.h"
#include "store/postgres/pool.h"
#include "store/run_store.h"

namespace runwarden::store::postgres {

struct ReadRules {
  std::int64_t keep_idempotency_ms = 0;
  std::function<void(const std::string& text)> on_unreadable;
};

class Reads {
 public:
  Reads(Pool& pool, const DatabaseClock& clock, ReadRules rules) : pool_(pool), clock_(clock), rules_(std::move(rules)) {}

  // See RunStore.
  std::optional<model::RunRecord> run_head(model::TenantId tenant, std::string_view run_id, std::optional<std::uint32_t> revision);
  std::optional<model::RunRecord> find_run(model::TenantId tenant, std::string_view run_id);
  std::optional<model::RunRecord> find_revision(model::TenantId tenant, std::string_view run_id, std::uint32_t revision);
  std::optional<model::RunRecord> run_at(model::TenantId tenant, const model::RecordKey& key);
  std::optional<model::FailureRecord> find_failure(model::TenantId tenant, std::string_view failure_id);
  std::vector<std::optional<model::RunRecord>> runs_at(model::TenantId tenant, std::span<const model::RecordKey> keys);
  std::vector<std::optional<model::FailureRecord>> failures_at(model::TenantId tenant, std::span<const model::RecordKey> keys);
  std::vector<std::string> events(model::TenantId tenant, const model::RecordKey& run, std::uint32_t from);
  std::optional<Replay> find_replay(model::TenantId tenant, const model::Digest& identity);

  // Answers all look-ups, in order, in one round trip.
  std::vector<LookedUp> look_up(std::span<const LookUp> asked);

  Page<model::RunRecord> runs(model::TenantId tenant, const RunQuery& query);
  Page<model::FailureRecord> failures(model::TenantId tenant, const FailureQuery& query);
  Page<model::ChangeRecord> changes(model::TenantId tenant, const ChangeQuery& query);
  Page<model::PolicyRecord> policies(model::TenantId tenant, const PolicyQuery& query);

  std::optional<model::PolicyRecord> policy_at(model::TenantId tenant, std::string_view policy, std::int64_t at_ms);
  std::vector<model::PolicyRecord> policies_at(model::TenantId tenant, std::int64_t at_ms);

  FingerprintStats fingerprint_stats(model::TenantId tenant, std::string_view fingerprint);
  std::uint64_t count_failures(model::TenantId tenant, std::string_view fingerprint, std::int64_t from_ms, std::int64_t before_ms);
  std::uint64_t count_runs(model::TenantId tenant, std::int64_t from_ms, std::int64_t before_ms);

  // The last canary stored by the host of that name.
  std::optional<model::RunRecord> canary(std::string_view host);

 private:
  template <class Read>
  auto read_each(const std::string& sql, model::TenantId tenant, std::span<const model::RecordKey> keys, Read read);

  Pool& pool_;
  const DatabaseClock& clock_;
  const ReadRules rules_;
};

}  // namespace runwarden::store::postgres
