// A store that keeps nothing and says that all was stored: for tests of what stands before a store.
#pragma once

#include "store/store.h"

namespace runwarden::testing {

class EmptyStore : public store::Store {
 public:
  std::vector<store::WriteResult> commit(std::span<const store::Write> batch) override {
    return std::vector<store::WriteResult>(batch.size());
  }
  std::uint64_t next_seq() override { return {}; }
  std::optional<model::RunRecord> run_head(model::TenantId, std::string_view, std::optional<std::uint32_t>) override { return {}; }
  std::optional<model::RunRecord> find_run(model::TenantId, std::string_view) override { return {}; }
  std::optional<model::RunRecord> find_revision(model::TenantId, std::string_view, std::uint32_t) override { return {}; }
  std::optional<model::RunRecord> run_at(model::TenantId, const model::RecordKey&) override { return {}; }
  std::optional<model::FailureRecord> find_failure(model::TenantId, std::string_view) override { return {}; }
  store::Page<model::RunRecord> runs(model::TenantId, const store::RunQuery&) override { return {}; }
  store::Page<model::FailureRecord> failures(model::TenantId, const store::FailureQuery&) override { return {}; }
  store::Page<model::ChangeRecord> changes(model::TenantId, const store::ChangeQuery&) override { return {}; }
  store::Page<model::PolicyRecord> policies(model::TenantId, const store::PolicyQuery&) override { return {}; }
  std::optional<model::PolicyRecord> policy_at(model::TenantId, std::string_view, std::int64_t) override { return {}; }
  std::vector<model::PolicyRecord> policies_at(model::TenantId, std::int64_t) override { return {}; }
  store::FingerprintStats fingerprint_stats(model::TenantId, std::string_view) override { return {}; }
  std::uint64_t count_failures(model::TenantId, std::string_view, std::int64_t, std::int64_t) override { return {}; }
  std::uint64_t count_runs(model::TenantId, std::int64_t, std::int64_t) override { return {}; }
  std::vector<std::string> events(model::TenantId, const model::RecordKey&) override { return {}; }
  std::vector<store::Claim> claim(const store::BufferRules&, std::size_t, std::int64_t) override { return {}; }
  std::optional<store::Claim> claim_run(model::TenantId, const model::RecordKey&, model::Resolution, std::int64_t) override { return {}; }
  void release(const store::Claim&) override {}
  store::ClaimedRun fetch(const store::Claim&) override { return {}; }
  store::OpenRuns open_runs() override { return {}; }
  std::optional<Replay> find_replay(model::TenantId, const model::Digest&) override { return {}; }
  model::KeyRecord put_key(model::KeyRecord) override { return {}; }
  std::vector<model::KeyRecord> keys() override { return {}; }
  std::uint64_t keys_version() override { return {}; }
  void touch_keys(std::span<const std::pair<std::string, std::int64_t>>) override {}
  std::vector<model::Tenant> tenants() override { return {}; }
  void put_crash_mark(model::CrashMark) override {}
  std::vector<model::CrashMark> crash_marks() override { return {}; }
  void note_clock(std::int64_t, std::uint64_t) override {}
  std::uint64_t clock_accepts() override { return {}; }
  store::Expired expire(const store::Retention&, std::size_t) override { return {}; }
  std::optional<model::RunRecord> canary() override { return std::nullopt; }
  store::Space space() override { return {}; }
  Status writable() override { return Nothing{}; }
};

}  // namespace runwarden::testing
