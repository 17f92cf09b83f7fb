// Groups of failures, their triage, and the counts that the page draws: what is asked of a store. Beside Store; any thread. What is read
// here never walks failures or runs: it is counted when they are committed. Calls throw StoreError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster.h"
#include "store/errors.h"
#include "store/queries.h"

namespace runwarden::store {

// Whose failures are counted: all of a tenant, a detector's, or a group's.
struct Subject {
  enum class Kind : std::uint8_t { any, detector, cluster };
  Kind kind = Kind::any;
  std::string detector_key = {};
  model::ClusterKey cluster = {};

  static Subject any() { return {}; }
  static Subject of_detector(std::string key) { return {Kind::detector, std::move(key), {}}; }
  static Subject of_cluster(const model::ClusterKey& key) { return {Kind::cluster, {}, key}; }
};

// From inclusive, before exclusive.
struct Span {
  std::int64_t from_ms = 0;
  std::int64_t before_ms = 0;
};

// Runs are counted in entries of 2^16 ms where a share of them is asked for: a span is widened to whole entries.
constexpr std::int64_t kShareEntryMs = std::int64_t{1} << 16;
Span whole_entries(const Span& span);

// Beside the groups of a tenant.
struct GroupTotals {
  std::uint64_t clusters = 0;
  std::uint64_t left_out = 0;      // failures without a group: limits.max_clusters was reached
  std::optional<double> building;  // 0 to 1: the part of an older store that has been counted; nothing: all of it
};

struct DimensionRow {
  std::string dimension;
  std::string value;
  std::uint64_t runs = 0;
  std::int64_t first_ms = 0;  // of receipt
  std::int64_t last_ms = 0;   // within a minute
};

// Changes in a span, oldest first.
struct ChangeMarks {
  std::vector<model::ChangeRecord> changes;
  std::uint64_t left_out = 0;  // older ones
};

// What was committed, oldest first.
struct TailItem {
  enum class Kind : std::uint8_t { other, run, failure };
  Kind kind = Kind::other;
  std::int64_t at_ms = 0;  // of the commit
  model::RecordKey record;
};
struct TailPage {
  std::vector<TailItem> items;
  std::uint64_t next = 0;  // where to go on
  bool too_old = false;    // `after` is older than what is kept
};

class GroupStore {
 public:
  virtual ~GroupStore() = default;

  virtual GroupTotals group_totals(model::TenantId tenant) = 0;
  virtual void visit_clusters(model::TenantId tenant, const std::function<void(const model::Cluster&)>& visit) = 0;
  virtual std::optional<model::Cluster> find_cluster(model::TenantId tenant, std::string_view cluster_id) = 0;
  virtual std::vector<model::FailureRecord> first_failures(model::TenantId tenant, const model::ClusterKey& cluster, std::size_t most) = 0;

  virtual std::uint64_t count_failures_of(model::TenantId tenant, const Subject& subject, const Span& span) = 0;
  // Runs of the widened span that the subject's failures affect, each once.
  virtual std::uint64_t count_affected(model::TenantId tenant, const Subject& subject, const Span& span) = 0;
  virtual std::uint64_t count_all_runs(model::TenantId tenant, const Span& span) = 0;  // exact

  // One count a bucket.
  virtual std::vector<std::uint64_t> failure_buckets(model::TenantId tenant, const Subject& subject, const Span& span, std::int64_t width_ms) = 0;
  virtual std::vector<std::uint64_t> run_buckets(model::TenantId tenant, const Span& span, std::int64_t width_ms) = 0;

  // Newest first, from before `before` (by time and number); what the service did by itself included.
  virtual std::vector<model::TriageEntry> triage_history(model::TenantId tenant, const model::ClusterKey& cluster, const Range& range) = 0;

  // Runs of a group, by its failures, newest first. The page's `next` is of a failure.
  virtual Page<model::RunRecord> cluster_runs(model::TenantId tenant, const model::ClusterKey& cluster, const RunQuery& query) = 0;

  virtual ChangeMarks change_marks(model::TenantId tenant, const Span& span, std::size_t most) = 0;

  // Grows with every commit of the tenant's records.
  virtual std::uint64_t last_commit(model::TenantId tenant) = 0;
  virtual TailPage tail(model::TenantId tenant, std::uint64_t after, std::size_t most) = 0;

  // Counts at most that many records of a store of before groups. False: all are. From the writing thread.
  virtual bool build(std::size_t most) = 0;
};

}  // namespace runwarden::store
