// Groups of failures, their triage, and the counts that the page draws: the read interface of a store. Part of Store; any thread. Nothing
// here walks failures or runs, but for about a second at each end of a span: they are counted when they are committed. Calls throw
// StoreError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time_buckets.h"
#include "model/change_record.h"
#include "model/cluster.h"
#include "model/failure_record.h"
#include "model/record_key.h"
#include "model/run_record.h"
#include "store/commit_tail.h"
#include "store/errors.h"
#include "store/queries.h"

namespace runwarden::store {

// Which failures are counted: all of a tenant, a detector's, or a group's.
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

// Runs are counted in entries of 2^16 ms where a share of them is needed. Such a span is widened to whole entries.
constexpr std::int64_t kShareEntryMs = std::int64_t{1} << 16;
Span whole_entries(const Span& span);

// In each stretch of 2^28 ms, the first kMostValues values of a dimension are counted separately, the others as model::kOtherValue.
constexpr std::uint64_t kMostValues = 200;
constexpr int kStretchShift = 28;

// What is counted for a tenant beside its groups.
struct GroupTotals {
  std::uint64_t clusters = 0;
  std::uint64_t left_out = 0;      // failures without a group, because limits.max_clusters was reached
  std::optional<double> building;  // 0 to 1: how much of an older store has been counted; nothing: all of it
};

// A value of a dimension. Times are of receipt, and exact only to the minute if the runs at either end have been deleted.
struct DimensionRow {
  std::string dimension;
  std::string value;
  std::uint64_t runs = 0;
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
};

// Runs, and how many of them are affected by failures.
struct AffectedRuns {
  std::uint64_t runs = 0;
  std::uint64_t affected = 0;
  std::map<model::ClusterKey, std::uint64_t> by_cluster;
  std::map<std::string, std::uint64_t> by_detector;

  std::uint64_t by(const Subject& subject) const {
    const auto in = [](const auto& counts, const auto& key) {
      const auto found = counts.find(key);
      return found == counts.end() ? std::uint64_t{0} : found->second;
    };
    if (subject.kind == Subject::Kind::cluster) return in(by_cluster, subject.cluster);
    return subject.kind == Subject::Kind::detector ? in(by_detector, subject.detector_key) : affected;
  }
};

// Changes in a span, oldest first.
struct ChangeMarks {
  std::vector<model::ChangeRecord> changes;
  std::uint64_t left_out = 0;  // older changes
};

class GroupStore {
 public:
  virtual ~GroupStore() = default;

  virtual GroupTotals group_totals(model::TenantId tenant) = 0;
  virtual void visit_clusters(model::TenantId tenant, const std::function<void(const model::Cluster&)>& visit) = 0;
  virtual std::optional<model::Cluster> find_cluster(model::TenantId tenant, std::string_view cluster_id) = 0;
  virtual std::vector<model::FailureRecord> first_failures(model::TenantId tenant, const model::ClusterKey& cluster, std::size_t most) = 0;

  virtual std::uint64_t count_failures_of(model::TenantId tenant, const Subject& subject, const Span& span) = 0;  // exact
  // Runs of the widened span that the subject's failures affect; each run counts once.
  virtual std::uint64_t count_affected(model::TenantId tenant, const Subject& subject, const Span& span) = 0;
  virtual std::uint64_t count_all_runs(model::TenantId tenant, const Span& span) = 0;  // exact

  // The values of each dimension and the runs that have them: of all that is stored, or of about the span (to three days). At most `most`
  // per dimension, those with the most runs.
  virtual std::vector<DimensionRow> dimension_values(model::TenantId tenant, const std::optional<Span>& span, std::size_t most) = 0;
  // Runs of the widened span that have that value.
  virtual std::uint64_t count_runs_with(model::TenantId tenant, const model::Dimension& value, const Span& span) = 0;
  virtual std::uint64_t count_affected_with(model::TenantId tenant, const Subject& subject, const model::Dimension& value,
                                            const Span& span) = 0;
  // For each group an upper bound of count_affected_with(), from fewer reads.
  virtual std::vector<std::uint64_t> most_affected_with(model::TenantId tenant, std::span<const model::ClusterKey> clusters,
                                                        const model::Dimension& value, const Span& span) = 0;
  virtual std::optional<model::RecordKey> first_run_with(model::TenantId tenant, const model::Dimension& value) = 0;
  // Runs received before that one, in its own entry of kShareEntryMs. Nothing: there are more than `most`, and they were not counted.
  virtual std::optional<AffectedRuns> runs_just_before(model::TenantId tenant, const model::RecordKey& run, std::size_t most) = 0;

  // One count per bucket, together exactly what the span contains. An entry of 2^10 ms or, in long spans, more belongs to the bucket that
  // it begins in. The buckets cover the span.
  virtual std::vector<std::uint64_t> failure_buckets(model::TenantId tenant, const Subject& subject, const Span& span,
                                                     const TimeBuckets& buckets) = 0;
  virtual std::vector<std::uint64_t> run_buckets(model::TenantId tenant, const Span& span, const TimeBuckets& buckets) = 0;

  // Newest first, within the range; includes what the service did by itself.
  virtual std::vector<model::TriageEntry> triage_history(model::TenantId tenant, const model::ClusterKey& cluster, const Range& range) = 0;

  // Runs of a group, found by its failures, newest first. The page's `next` is the key of a failure.
  virtual Page<model::RunRecord> cluster_runs(model::TenantId tenant, const model::ClusterKey& cluster, const RunQuery& query) = 0;

  virtual ChangeMarks change_marks(model::TenantId tenant, const Span& span, std::size_t most) = 0;

  // Grows with every commit of the tenant's records.
  virtual std::uint64_t last_commit(model::TenantId tenant) = 0;
  virtual TailPage tail(model::TenantId tenant, std::uint64_t after, std::size_t most) = 0;

  // Counts at most `most` records of a store from before groups existed. False: all are counted. Call on the writing thread.
  virtual bool build(std::size_t most) = 0;
};

}  // namespace runwarden::store
