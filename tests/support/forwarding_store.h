// A store that hands everything on to another: what stands in a test's place overrides what it is about.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace runwarden::test {

class ForwardingStore : public store::Store {
 public:
  explicit ForwardingStore(std::unique_ptr<store::Store> real) : real_(std::move(real)) {}

  void prepare(store::Write& write) override { real_->prepare(write); }
  std::vector<store::WriteResult> commit(std::span<const store::Write> batch) override { return real_->commit(batch); }
  std::uint64_t next_seq() override { return real_->next_seq(); }
  std::optional<model::RunRecord> run_head(model::TenantId tenant, std::string_view id, std::optional<std::uint32_t> revision) override {
    return real_->run_head(tenant, id, revision);
  }
  std::optional<model::RunRecord> find_run(model::TenantId tenant, std::string_view id) override { return real_->find_run(tenant, id); }
  std::optional<model::RunRecord> find_revision(model::TenantId tenant, std::string_view id, std::uint32_t revision) override {
    return real_->find_revision(tenant, id, revision);
  }
  std::optional<model::RunRecord> run_at(model::TenantId tenant, const model::RecordKey& key) override {
    return real_->run_at(tenant, key);
  }
  std::optional<model::FailureRecord> find_failure(model::TenantId tenant, std::string_view id) override {
    return real_->find_failure(tenant, id);
  }
  store::Page<model::RunRecord> runs(model::TenantId tenant, const store::RunQuery& query) override { return real_->runs(tenant, query); }
  store::Page<model::FailureRecord> failures(model::TenantId tenant, const store::FailureQuery& query) override {
    return real_->failures(tenant, query);
  }
  store::Page<model::ChangeRecord> changes(model::TenantId tenant, const store::ChangeQuery& query) override {
    return real_->changes(tenant, query);
  }
  store::Page<model::PolicyRecord> policies(model::TenantId tenant, const store::PolicyQuery& query) override {
    return real_->policies(tenant, query);
  }
  std::optional<model::PolicyRecord> policy_at(model::TenantId tenant, std::string_view policy, std::int64_t at_ms) override {
    return real_->policy_at(tenant, policy, at_ms);
  }
  std::vector<model::PolicyRecord> policies_at(model::TenantId tenant, std::int64_t at_ms) override {
    return real_->policies_at(tenant, at_ms);
  }
  store::FingerprintStats fingerprint_stats(model::TenantId tenant, std::string_view fingerprint) override {
    return real_->fingerprint_stats(tenant, fingerprint);
  }
  std::uint64_t count_failures(model::TenantId tenant, std::string_view fingerprint, std::int64_t from_ms,
                               std::int64_t before_ms) override {
    return real_->count_failures(tenant, fingerprint, from_ms, before_ms);
  }
  std::uint64_t count_runs(model::TenantId tenant, std::int64_t from_ms, std::int64_t before_ms) override {
    return real_->count_runs(tenant, from_ms, before_ms);
  }
  std::vector<std::string> events(model::TenantId tenant, const model::RecordKey& run) override { return real_->events(tenant, run); }
  std::vector<store::Claim> claim(const store::BufferRules& rules, std::size_t most, std::int64_t lease_ms) override {
    return real_->claim(rules, most, lease_ms);
  }
  std::optional<store::Claim> claim_run(model::TenantId tenant, const model::RecordKey& run, model::Resolution resolution,
                                        std::int64_t lease_ms) override {
    return real_->claim_run(tenant, run, resolution, lease_ms);
  }
  void release(const store::Claim& claim) override { real_->release(claim); }
  store::ClaimedRun fetch(const store::Claim& claim) override { return real_->fetch(claim); }
  store::OpenRuns open_runs() override { return real_->open_runs(); }
  std::optional<store::Replay> find_replay(model::TenantId tenant, const model::Digest& identity) override {
    return real_->find_replay(tenant, identity);
  }
  model::KeyRecord put_key(model::KeyRecord key) override { return real_->put_key(std::move(key)); }
  std::vector<model::KeyRecord> keys() override { return real_->keys(); }
  std::uint64_t keys_version() override { return real_->keys_version(); }
  void touch_keys(std::span<const std::pair<std::string, std::int64_t>> used) override { real_->touch_keys(used); }
  std::vector<model::Tenant> tenants() override { return real_->tenants(); }
  Result<std::string> secret(std::string_view name) override { return real_->secret(name); }
  void put_crash_mark(model::CrashMark mark) override { real_->put_crash_mark(std::move(mark)); }
  std::vector<model::CrashMark> crash_marks() override { return real_->crash_marks(); }
  void note_clock(std::int64_t wall_ms, std::uint64_t accepts) override { real_->note_clock(wall_ms, accepts); }
  std::uint64_t clock_accepts() override { return real_->clock_accepts(); }
  store::Expired expire(const store::Retention& retention, std::size_t most) override { return real_->expire(retention, most); }
  void maintain() override { real_->maintain(); }
  std::optional<model::RunRecord> canary() override { return real_->canary(); }
  store::GroupStore& groups() override { return real_->groups(); }
  store::Space space() override { return real_->space(); }
  Status writable() override { return real_->writable(); }
  std::string damage() override { return real_->damage(); }

 protected:
  store::Store& real() { return *real_; }

 private:
  std::unique_ptr<store::Store> real_;
};

}  // namespace runwarden::test
