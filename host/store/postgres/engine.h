// The store on PostgreSQL, which all hosts of a database share. Forwards to its parts, each of which has its own file.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "store/postgres/database_clock.h"
#include "store/postgres/duties.h"
#include "store/postgres/group_store.h"
#include "store/postgres/keys.h"
#include "store/postgres/lane.h"
#include "store/postgres/ledger_store.h"
#include "store/postgres/look_ups.h"
#include "store/postgres/open_runs.h"
#include "store/postgres/opinion_store.h"
#include "store/postgres/pool.h"
#include "store/postgres/reads.h"
#include "store/postgres/review_store.h"
#include "store/postgres/settings.h"
#include "store/postgres/watch.h"
#include "store/postgres/webhook_store.h"
#include "store/store.h"

namespace runwarden::store::postgres {

class Engine final : public Store {
 public:
  // The database must have the schema. Throws PgFault or StoreError.
  Engine(const PostgresSettings& settings, const Clock& clock, Role role);
  ~Engine() override;

  bool submit(Write write, Done done, Permit permit = nullptr) override;
  std::string refuses_for() const override;
  void run_between(Job job) override;
  void drain() override;
  Depth depth() const override;
  bool is_progressing(std::int64_t within_ms) const override;

  std::uint64_t next_seq() override { return seq_.fetch_add(1, std::memory_order_relaxed); }
  std::optional<model::RunRecord> run_head(model::TenantId tenant, std::string_view run_id, std::optional<std::uint32_t> revision) override { return reads_.run_head(tenant, run_id, revision); }
  std::optional<model::RunRecord> find_run(model::TenantId tenant, std::string_view run_id) override { return reads_.find_run(tenant, run_id); }
  std::optional<model::RunRecord> find_revision(model::TenantId tenant, std::string_view run_id, std::uint32_t revision) override { return reads_.find_revision(tenant, run_id, revision); }
  std::optional<model::RunRecord> run_at(model::TenantId tenant, const model::RecordKey& key) override { return reads_.run_at(tenant, key); }
  std::optional<model::FailureRecord> find_failure(model::TenantId tenant, std::string_view failure_id) override { return reads_.find_failure(tenant, failure_id); }
  std::vector<std::optional<model::RunRecord>> runs_at(model::TenantId tenant, std::span<const model::RecordKey> keys) override {
    return reads_.runs_at(tenant, keys);
  }
  std::vector<std::optional<model::FailureRecord>> failures_at(model::TenantId tenant, std::span<const model::RecordKey> keys) override {
    return reads_.failures_at(tenant, keys);
  }
  std::vector<std::string> events(model::TenantId tenant, const model::RecordKey& run, std::uint32_t from) override {
    return reads_.events(tenant, run, from);
  }
  std::optional<Replay> find_replay(model::TenantId tenant, const model::Digest& identity) override { return reads_.find_replay(tenant, identity); }
  std::optional<LookedUp> look_up(const LookUp& asked, std::function<void(LookedUp)> then) override;
  Page<model::RunRecord> runs(model::TenantId tenant, const RunQuery& query) override { return reads_.runs(tenant, query); }
  Page<model::FailureRecord> failures(model::TenantId tenant, const FailureQuery& query) override { return reads_.failures(tenant, query); }
  Page<model::ChangeRecord> changes(model::TenantId tenant, const ChangeQuery& query) override { return reads_.changes(tenant, query); }
  Page<model::PolicyRecord> policies(model::TenantId tenant, const PolicyQuery& query) override { return reads_.policies(tenant, query); }
  std::optional<model::PolicyRecord> policy_at(model::TenantId tenant, std::string_view policy, std::int64_t at_ms) override { return reads_.policy_at(tenant, policy, at_ms); }
  std::vector<model::PolicyRecord> policies_at(model::TenantId tenant, std::int64_t at_ms) override { return reads_.policies_at(tenant, at_ms); }
  FingerprintStats fingerprint_stats(model::TenantId tenant, std::string_view fingerprint) override { return reads_.fingerprint_stats(tenant, fingerprint); }
  std::uint64_t count_failures(model::TenantId tenant, std::string_view fingerprint, std::int64_t from_ms, std::int64_t before_ms) override { return reads_.count_failures(tenant, fingerprint, from_ms, before_ms); }
  std::uint64_t count_runs(model::TenantId tenant, std::int64_t from_ms, std::int64_t before_ms) override { return reads_.count_runs(tenant, from_ms, before_ms); }
  std::optional<model::RunRecord> canary() override { return reads_.canary(canary_); }

  std::vector<Claim> claim(const BufferRules& rules, std::size_t most, std::int64_t lease_ms) override { return open_runs_.claim(rules, most, lease_ms); }
  std::optional<Claim> claim_run(model::TenantId tenant, const model::RecordKey& run, std::optional<model::Resolution> resolution,
                                 std::int64_t lease_ms) override {
    return open_runs_.claim_run(tenant, run, resolution, lease_ms);
  }
  void release(const Claim& claim) override { open_runs_.release(claim); }
  std::vector<bool> renew(std::span<const Claim> claims, std::int64_t lease_ms) override { return open_runs_.renew(claims, lease_ms); }
  ClaimedRun fetch(const Claim& claim) override { return open_runs_.fetch(claim); }
  std::uint64_t open_count() override { return watch_.open_runs().count; }
  OpenRuns open_runs() override { return watch_.open_runs(); }

  model::KeyRecord put_key(model::KeyRecord key) override { return keys_.put_key(std::move(key)); }
  std::vector<model::KeyRecord> keys() override { return keys_.keys(); }
  std::uint64_t keys_version() override { return watch_.version(Watch::What::keys); }
  bool look_for_keys() override;
  void touch_keys(std::span<const std::pair<std::string, std::int64_t>> last_used) override { keys_.touch_keys(last_used); }
  std::vector<model::Tenant> tenants() override { return keys_.tenants(); }
  Result<std::string> secret(std::string_view name) override { return keys_.secret(name); }

  Expired expire(const Retention& retention, std::size_t most) override { return duties_.expire(retention, most); }
  void put_crash_mark(model::CrashMark mark) override {
    mark.key.seq = next_seq();
    duties_.put_crash_mark(mark);
  }
  std::vector<model::CrashMark> crash_marks() override { return duties_.crash_marks(); }
  void note_clock(std::int64_t wall_ms, std::uint64_t accepts) override { duties_.note_clock(wall_ms, accepts); }
  std::uint64_t clock_accepts() override { return watch_.clock_accepts(); }

  std::size_t hosts() override { return watch_.hosts(); }
  SpaceStatus space() override { return watch_.space(); }
  Status writable() override { return watch_.writable(); }
  std::string delayed_by() override;
  std::vector<MetricSample> samples() override;

  GroupStore& groups() override { return groups_; }
  WebhookStore& webhooks() override { return webhooks_; }
  ReviewStore& reviews() override { return reviews_; }
  OpinionStore& opinions() override { return opinions_; }
  LedgerStore& ledger() override { return ledger_; }

 private:
  Lane& lane_of(const Write& write);

  const PostgresSettings settings_;
  const Clock& clock_;
  const std::shared_ptr<DatabaseClock> time_;
  Pool pool_;
  const std::int64_t start_;  // this process's number, from the database
  const std::string canary_;  // the name of this process's canary
  std::atomic<std::uint64_t> seq_;
  Watch watch_;
  Reads reads_;
  LookUps look_ups_;
  Keys keys_;
  Duties duties_;
  OpenRunClaims open_runs_;
  PostgresGroupStore groups_;
  PostgresWebhookStore webhooks_;
  PostgresReviewStore reviews_;
  PostgresOpinionStore opinions_;
  PostgresLedgerStore ledger_;
  std::vector<std::unique_ptr<Lane>> lanes_;  // their threads use all of the above; a command has one lane
  std::atomic<std::size_t> jobs_{0};
  std::atomic<std::int64_t> looked_ns_{std::numeric_limits<std::int64_t>::min() / 2};  // when keys were last looked for
};

// Makes the schema of an empty database. Errors name what is wrong and the remedy, also for a schema that is too new, or older: only
// `runwarden migrate` raises that. The clock must outlive the store.
Result<std::unique_ptr<Store>> open_postgres(const PostgresSettings& settings, const Clock& clock, Role role);

}  // namespace runwarden::store::postgres
