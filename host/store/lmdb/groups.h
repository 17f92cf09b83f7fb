// Groups in the tables: heads, the runs they affect, triage. For the files of store/ only; the transaction says which thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "model/records.h"
#include "store/group_codec.h"
#include "store/record_codec.h"
#include "store/lmdb/write_batch.h"
#include "store/writes.h"

namespace runwarden::store {

KeyBytes cluster_row_key(model::TenantId tenant, const Half& cluster);
std::optional<ClusterHead> read_cluster(const Txn& txn, const Tables& tables, model::TenantId tenant, const Half& cluster);

// A failure that is put into its group, or goes from it.
void enter_group(WriteBatch& batch, model::TenantId tenant, const model::FailureRecord& failure, Comes comes = Comes::found);
void leave_group(WriteBatch& batch, model::TenantId tenant, const model::FailureRecord& failure, Gone gone);

// Counts the run for the values of its dimensions; before enter_affected(), and out again after leave_affected().
void enter_dimensions(WriteBatch& batch, const RunPlace& place, std::span<const model::Dimension> dimensions);
void leave_dimensions(WriteBatch& batch, const RunPlace& place, std::span<const model::Dimension> dimensions);

// Counts the run once for each group and detector of its failures, and for each of these with each value of its dimensions. What is no
// longer in its record is not counted.
void enter_affected(WriteBatch& batch, const RunPlace& place, const RunWrite& write);
// The same of a run and its failures as they are in the tables.
void enter_affected(WriteBatch& batch, const RunPlace& place);
// A failure that still is in its table is about to go; its run's counts go with the last of their kind.
void leave_affected(WriteBatch& batch, model::TenantId tenant, const model::FailureRecord& failure);
// A failure in its table was a false alarm until now: its run's counts come back with the first of their kind.
void return_affected(WriteBatch& batch, model::TenantId tenant, const model::FailureRecord& failure);
// The run is about to go, its failures may stay.
void leave_affected(WriteBatch& batch, const RunPlace& place, const StoredRun& stored);

// The groups and detectors of a run's failures, each once.
struct Affected {
  std::set<Half> clusters;
  std::set<std::string> detectors;

  void add(const model::FailureRecord& failure);
};
// The failures of a run that are still in their table, but for one; those of a detector on trial and false alarms are not.
Affected affected_by(const Txn& txn, const Tables& tables, model::TenantId tenant, const StoredRun& stored, const model::RecordKey* but = nullptr);

// Writes all that the batch gathered: counts, groups and the log of what it committed. Before the commit.
void flush(WriteBatch& batch);

// The group's oldest and newest failure that is kept and no false alarm.
std::optional<model::RecordKey> oldest_failure(const Txn& txn, const Tables& tables, model::TenantId tenant, const Half& cluster);
std::optional<model::RecordKey> newest_failure(const Txn& txn, const Tables& tables, model::TenantId tenant, const Half& cluster);

// What people decide. The cluster after it is in the result; without one there is no such group.
WriteResult write_triage(WriteBatch& batch, const TriageWrite& write);
// Deletes at most that many entries that are too old, and groups of which nothing else is left. The latest entry of a group stays as long
// as the group has failures.
std::uint64_t expire_triage(WriteBatch& batch, const Retention& retention, std::size_t most);

struct TenantGroups {
  std::uint64_t clusters = 0;
  std::uint64_t left_out = 0;
};
TenantGroups read_tenant_groups(const Txn& txn, const Tables& tables, model::TenantId tenant);
void write_tenant_groups(WriteTxn& txn, const Tables& tables, model::TenantId tenant, const TenantGroups& groups);

// A store of before groups is counted in slices. Where the next one begins.
struct GroupBuild {
  enum class Stage : std::uint8_t { done, failures, runs };
  Stage stage = Stage::done;
  RunPlace at;
};
GroupBuild group_build_start();
GroupBuild read_group_build(const Txn& txn, const Tables& tables);
void write_group_build(WriteTxn& txn, const Tables& tables, const GroupBuild& build);
// Counts at most that many records that were not counted yet. False: all are.
bool build_groups(WriteBatch& batch, std::size_t most);

}  // namespace runwarden::store
