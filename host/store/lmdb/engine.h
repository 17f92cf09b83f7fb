// The store on LMDB. Opens the transactions in which the functions of the other files work on the tables. The interfaces in store/ say who
// may call what; open_lmdb() creates it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "store/commit_queue.h"
#include "store/lmdb/env.h"
#include "store/lmdb/events.h"
#include "store/lmdb/fault.h"
#include "store/lmdb/group_store.h"
#include "store/lmdb/ledger_start.h"
#include "store/lmdb/ledger_store.h"
#include "store/lmdb/open_run_index.h"
#include "store/lmdb/opinion_store.h"
#include "store/lmdb/review_store.h"
#include "store/lmdb/service_lock.h"
#include "store/lmdb/space_accounting.h"
#include "store/lmdb/store.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"
#include "store/lmdb/webhook_store.h"
#include "store/lmdb/write_batch.h"
#include "store/store.h"

namespace runwarden::store {

class LmdbEngine final : public Store, private BatchWriter {
 public:
  // Throws LmdbFault, NoRoom or StoreError.
  LmdbEngine(const LmdbSettings& settings, const Clock& clock, std::optional<ServiceLock> lock);

  bool submit(Write write, Done done, Permit permit = nullptr) override {
    return queue_->submit(std::move(write), std::move(done), std::move(permit));
  }
  void run_between(Job job) override { queue_->run_between(std::move(job)); }
  void drain() override { queue_->drain(); }
  Depth depth() const override { return queue_->depth(); }
  bool is_progressing(std::int64_t within_ms) const override { return queue_->is_progressing(within_ms); }

  std::uint64_t next_seq() override { return seq_.fetch_add(1, std::memory_order_relaxed); }

  std::optional<model::RunRecord> run_head(model::TenantId tenant, std::string_view run_id, std::optional<std::uint32_t> revision) override;
  std::optional<model::RunRecord> find_run(model::TenantId tenant, std::string_view run_id) override;
  std::optional<model::RunRecord> find_revision(model::TenantId tenant, std::string_view run_id, std::uint32_t revision) override;
  std::optional<model::RunRecord> run_at(model::TenantId tenant, const model::RecordKey& key) override;
  std::optional<model::FailureRecord> find_failure(model::TenantId tenant, std::string_view failure_id) override;
  std::vector<std::optional<model::RunRecord>> runs_at(model::TenantId tenant, std::span<const model::RecordKey> keys) override;
  std::vector<std::optional<model::FailureRecord>> failures_at(model::TenantId tenant, std::span<const model::RecordKey> keys) override;

  Page<model::RunRecord> runs(model::TenantId tenant, const RunQuery& query) override;
  Page<model::FailureRecord> failures(model::TenantId tenant, const FailureQuery& query) override;
  Page<model::ChangeRecord> changes(model::TenantId tenant, const ChangeQuery& query) override;
  Page<model::PolicyRecord> policies(model::TenantId tenant, const PolicyQuery& query) override;
  std::optional<model::PolicyRecord> policy_at(model::TenantId tenant, std::string_view policy, std::int64_t at_ms) override;
  std::vector<model::PolicyRecord> policies_at(model::TenantId tenant, std::int64_t at_ms) override;

  FingerprintStats fingerprint_stats(model::TenantId tenant, std::string_view fingerprint) override;
  std::uint64_t count_failures(model::TenantId tenant, std::string_view fingerprint, std::int64_t from_ms, std::int64_t before_ms) override;
  std::uint64_t count_runs(model::TenantId tenant, std::int64_t from_ms, std::int64_t before_ms) override;

  std::vector<std::string> events(model::TenantId tenant, const model::RecordKey& run, std::uint32_t from) override;
  std::vector<Claim> claim(const BufferRules& rules, std::size_t most, std::int64_t lease_ms) override;
  std::optional<Claim> claim_run(model::TenantId tenant, const model::RecordKey& run, std::optional<model::Resolution> resolution,
                                 std::int64_t lease_ms) override;
  void release(const Claim& claim) override;
  std::vector<bool> renew(std::span<const Claim> claims, std::int64_t lease_ms) override;
  ClaimedRun fetch(const Claim& claim) override;
  std::uint64_t open_count() override { return open_index_.count(monotonic_ms()).count; }
  OpenRuns open_runs() override;

  std::optional<Replay> find_replay(model::TenantId tenant, const model::Digest& identity) override;

  model::KeyRecord put_key(model::KeyRecord key) override;
  std::vector<model::KeyRecord> keys() override;
  std::uint64_t keys_version() override;
  void touch_keys(std::span<const std::pair<std::string, std::int64_t>> last_used) override;
  std::vector<model::Tenant> tenants() override;
  Result<std::string> secret(std::string_view name) override;
  void put_crash_mark(model::CrashMark mark) override;
  std::vector<model::CrashMark> crash_marks() override;

  void note_clock(std::int64_t wall_ms, std::uint64_t accepts) override;
  std::uint64_t clock_accepts() override;

  Expired expire(const Retention& retention, std::size_t most) override;
  std::optional<model::RunRecord> canary() override;
  GroupStore& groups() override { return groups_; }
  WebhookStore& webhooks() override { return webhooks_; }
  ReviewStore& reviews() override { return reviews_; }
  OpinionStore& opinions() override { return opinions_; }
  LedgerStore& ledger() override { return ledger_; }
  SpaceStatus space() override;
  Status writable() override;
  std::string damage() override;

 private:
  SealedWrite seal(Write write) override;
  std::vector<WriteResult> commit(std::span<const SealedWrite> batch) override;
  void maintain() override;
  void forget_purged();
  void look_for_purges();
  bool build_some(std::size_t most);
  // Gives a batch the ledger for the entries of what it stores and deletes.
  void open_ledger(WriteBatch& batch) const;
  IdempotencyTimes times() const { return {clock_.wall_ms(), settings_.keep_idempotency_ms}; }
  std::int64_t monotonic_ms() const { return clock_.monotonic_ns() / 1'000'000; }

  void commit_range(std::span<const SealedWrite> batch, std::span<WriteResult> results);
  void commit_whole(std::span<const SealedWrite> batch, std::span<WriteResult> results);
  WriteResult apply(WriteBatch& batch, const SealedWrite& write);
  WriteResult apply_one(WriteBatch& batch, const RunWrite& write);
  WriteResult apply_one(WriteBatch& batch, const EventsWrite& write);
  WriteResult apply_one(WriteBatch& batch, const TracesWrite& write);
  WriteResult apply_one(WriteBatch& batch, const AnswerWrite& write);
  WriteResult apply_one(WriteBatch& batch, const ChangeWrite& write);
  WriteResult apply_one(WriteBatch& batch, const PolicyWrite& write);
  WriteResult apply_one(WriteBatch& batch, const CanaryWrite& write);
  WriteResult apply_one(WriteBatch& batch, const TriageWrite& write);
  WriteResult apply_one(WriteBatch& batch, const ReviewWrite& write);
  WriteResult apply_one(WriteBatch& batch, const OpinionWrite& write);
  void update_open_index(const std::vector<WriteBatch::OpenRunChange>& changes);
  std::optional<Claim> claim_of(const Txn& txn, const RunKey& place, std::optional<model::Resolution> resolution);

  template <class Use>
  auto reading(Use use) -> decltype(use(std::declval<const Txn&>()));
  template <class Read>
  auto read_each(std::span<const model::RecordKey> keys, Read read);
  template <class Use>
  auto writing(Use use) -> decltype(use(std::declval<WriteTxn&>()));
  void write_numbered(const std::function<void(WriteTxn&)>& work);
  void publish_last_use();
  RunEvents events_of(const Txn& txn, const RunKey& place, std::uint32_t upto) const;
  void report_unreadable(const StoreError& bad) const;
  void refuse_after_fault() const;
  [[noreturn]] void fail(const LmdbFault& fault);
  template <class Use>
  auto naming_damage(Use use) -> decltype(use());
  std::string note_damage(const std::string& what);
  // Throws StoreDamaged, and keeps its text for damage().
  [[noreturn]] void fail_damaged(const LmdbFault& fault);

  std::optional<ServiceLock> lock_;  // released last
  LmdbSettings settings_;
  const Clock& clock_;
  LmdbEnv env_;
  Tables tables_;
  SpaceAccounting room_;
  LmdbGroupStore groups_;
  LmdbWebhookStore webhooks_;
  LmdbReviewStore reviews_;
  LmdbOpinionStore opinions_;
  LmdbLedgerStore ledger_;
  std::atomic<LedgerState> ledger_state_{LedgerState::never};
  OpenRunIndex open_index_;
  std::uint64_t start_ = 0;
  bool start_noted_ = false;
  std::atomic<std::uint64_t> seq_{0};
  std::int64_t readers_checked_ns_ = 0;
  std::int64_t purges_looked_for_ns_ = 0;
  std::uint64_t purges_seen_ = 0;
  std::atomic<bool> failed_{false};
  Mutex damage_mutex_;
  std::string damage_ RW_GUARDED_BY(damage_mutex_);  // the first that was found
  std::unique_ptr<CommitQueue> queue_;  // its thread works on all of the above
};

}  // namespace runwarden::store
