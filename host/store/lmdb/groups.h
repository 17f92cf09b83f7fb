// Groups in the LMDB tables: heads, the runs they affect, triage. Internal to store/; the transaction's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "model/failure_record.h"
#include "model/record_key.h"
#include "model/run_record.h"
#include "store/group_codec.h"
#include "store/lmdb/write_batch.h"
#include "store/record_codec.h"
#include "store/retention.h"
#include "store/review_writes.h"
#include "store/run_writes.h"
#include "store/write_result.h"

namespace runwarden::store {

KeyBytes cluster_row_key(model::TenantId tenant, const Half& cluster);
std::optional<ClusterHead> read_cluster(const Txn& txn, const Tables& tables, model::TenantId tenant, const Half& cluster);

// Adds a failure to its group, or removes it.
void enter_group(WriteBatch& batch, model::TenantId tenant, const model::FailureRecord& failure, Addition comes = Addition::found);
void leave_group(WriteBatch& batch, model::TenantId tenant, const model::FailureRecord& failure, Removal gone);

// Counts the run in or out for the values of its dimensions: in before enter_affected(), out after leave_affected().
void enter_dimensions(WriteBatch& batch, const RunKey& place, std::span<const model::Dimension> dimensions);
void leave_dimensions(WriteBatch& batch, const RunKey& place, std::span<const model::Dimension> dimensions);

// Counts the run once for each group and detector of its failures, and for each of these with each value of its dimensions. Only what is
// still in its record counts.
void enter_affected(WriteBatch& batch, const RunKey& place, std::span<const model::Dimension> dimensions,
                    std::span<const model::FailureRecord> failures);
// The same for a run and its failures as stored.
void enter_affected(WriteBatch& batch, const RunKey& place);
// Called before a failure is removed from its table. Removes the run's counts for which it is the last failure.
void leave_affected(WriteBatch& batch, model::TenantId tenant, const model::FailureRecord& failure);
// Called when a failure in its table begins to count. Restores the run's counts for which it is the first failure.
void return_affected(WriteBatch& batch, model::TenantId tenant, const model::FailureRecord& failure);
// Called before the run is removed; its failures may stay.
void leave_affected(WriteBatch& batch, const RunKey& place, const StoredRun& stored);

// The groups and detectors of a run's failures, each once.
struct Affected {
  std::set<Half> clusters;
  std::set<std::string> detectors;

  void add(const model::FailureRecord& failure);
};
// The failures of a run that are still in their table, except `but`. Leaves out false alarms and failures of detectors on trial.
Affected affected_by(const Txn& txn, const Tables& tables, model::TenantId tenant, const StoredRun& stored,
                     const model::RecordKey* but = nullptr);

// Writes all that the batch gathered: counts, groups and the commit log. Call before the commit.
void flush(WriteBatch& batch);

// The group's oldest and newest stored failure that is not a false alarm.
std::optional<model::RecordKey> oldest_failure(const Txn& txn, const Tables& tables, model::TenantId tenant, const Half& cluster);
std::optional<model::RecordKey> newest_failure(const Txn& txn, const Tables& tables, model::TenantId tenant, const Half& cluster);

// Stores what people decide. The result has the cluster after it; without one, there is no such group.
WriteResult write_triage(WriteBatch& batch, const TriageWrite& write);
// Deletes at most `most` entries that are too old, and groups that have nothing left. The latest entry of a group stays as long as the
// group has failures.
std::uint64_t expire_triage(WriteBatch& batch, const Retention& retention, std::size_t most);

struct TenantGroups {
  std::uint64_t clusters = 0;
  std::uint64_t left_out = 0;
};
TenantGroups read_tenant_groups(const Txn& txn, const Tables& tables, model::TenantId tenant);
void write_tenant_groups(WriteTxn& txn, const Tables& tables, model::TenantId tenant, const TenantGroups& groups);

// A store from before groups existed is counted in slices. This is where the next one begins.
struct GroupBuild {
  enum class Stage : std::uint8_t { done, failures, runs };
  Stage stage = Stage::done;
  RunKey at;
};
GroupBuild group_build_start();
GroupBuild read_group_build(const Txn& txn, const Tables& tables);
void write_group_build(WriteTxn& txn, const Tables& tables, const GroupBuild& build);
// Counts at most `most` records that were not counted yet. False: all are counted.
bool build_groups(WriteBatch& batch, std::size_t most);

}  // namespace runwarden::store
