// Groups, triage and the page's counts: group_store.h on the LMDB tables. Internal to store/.
#pragma once

#include <functional>

#include "store/commit_tail.h"
#include "store/group_store.h"
#include "store/lmdb/env.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"

namespace runwarden::store {

class LmdbGroupStore final : public GroupStore {
 public:
  struct Parts {
    LmdbEnv& env;
    const Tables& tables;
    // Runs a read; throws a StoreError that names any damage it meets.
    std::function<void(const std::function<void()>& work)> reading;
    std::function<bool(std::size_t most)> build;
    // Called for each record that a list skips because it cannot be read.
    const std::function<void(const std::string& text)>& on_unreadable;
  };

  explicit LmdbGroupStore(Parts parts) : parts_(std::move(parts)) {}

  GroupTotals group_totals(model::TenantId tenant) override;
  void visit_clusters(model::TenantId tenant, const std::function<void(const model::Cluster&)>& visit) override;
  std::optional<model::Cluster> find_cluster(model::TenantId tenant, std::string_view cluster_id) override;
  std::vector<model::FailureRecord> first_failures(model::TenantId tenant, const model::ClusterKey& cluster, std::size_t most) override;
  std::uint64_t count_failures_of(model::TenantId tenant, const Subject& subject, const Span& span) override;
  std::uint64_t count_affected(model::TenantId tenant, const Subject& subject, const Span& span) override;
  std::uint64_t count_all_runs(model::TenantId tenant, const Span& span) override;
  std::vector<DimensionRow> dimension_values(model::TenantId tenant, const std::optional<Span>& span, std::size_t most) override;
  std::uint64_t count_runs_with(model::TenantId tenant, const model::Dimension& value, const Span& span) override;
  std::uint64_t count_affected_with(model::TenantId tenant, const Subject& subject, const model::Dimension& value,
                                    const Span& span) override;
  std::vector<std::uint64_t> most_affected_with(model::TenantId tenant, std::span<const model::ClusterKey> clusters,
                                                const model::Dimension& value, const Span& span) override;
  std::optional<model::RecordKey> first_run_with(model::TenantId tenant, const model::Dimension& value) override;
  std::optional<AffectedRuns> runs_just_before(model::TenantId tenant, const model::RecordKey& run, std::size_t most) override;
  std::vector<std::uint64_t> failure_buckets(model::TenantId tenant, const Subject& subject, const Span& span,
                                             const TimeBuckets& buckets) override;
  std::vector<std::uint64_t> run_buckets(model::TenantId tenant, const Span& span, const TimeBuckets& buckets) override;
  std::vector<model::TriageEntry> triage_history(model::TenantId tenant, const model::ClusterKey& cluster, const Range& range) override;
  Page<model::RunRecord> cluster_runs(model::TenantId tenant, const model::ClusterKey& cluster, const RunQuery& query) override;
  ChangeMarks change_marks(model::TenantId tenant, const Span& span, std::size_t most) override;
  std::uint64_t last_commit(model::TenantId tenant) override;
  TailPage tail(model::TenantId tenant, std::uint64_t after, std::size_t most) override;
  bool build(std::size_t most) override { return parts_.build(most); }

 private:
  template <class Use>
  auto reading(Use use) -> decltype(use(std::declval<const Txn&>()));

  Parts parts_;
};

}  // namespace runwarden::store
