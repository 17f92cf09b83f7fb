// Groups, triage and the page's counts on PostgreSQL; see store/group_store.h. Any thread.
#pragma once

#include <functional>
#include <string>

#include "store/commit_tail.h"
#include "store/group_store.h"
#include "store/postgres/pool.h"

namespace runwarden::store::postgres {

class PostgresGroupStore final : public GroupStore {
 public:
  using OnUnreadable = std::function<void(const std::string& text)>;  // called for each record that a list skips

  PostgresGroupStore(Pool& pool, OnUnreadable on_unreadable) : pool_(pool), on_unreadable_(std::move(on_unreadable)) {}

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
  bool build(std::size_t) override { return false; }  // every record was counted when it was stored

 private:
  void report(const std::string& text) const;

  Pool& pool_;
  OnUnreadable on_unreadable_;
};

}  // namespace runwarden::store::postgres
