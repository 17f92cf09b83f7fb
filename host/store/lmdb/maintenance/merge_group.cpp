#include "store/lmdb/maintenance/merge_group.h"

#include <algorithm>

#include "store/lmdb/groups.h"

namespace runwarden::store {
namespace {

// Of a group whose failures are gone, or are those of another export.
ClusterHead head_of(const model::Cluster& cluster) {
  ClusterHead head;
  head.cluster = cluster;
  head.cluster.count = 0;
  head.cluster.waste_micro_usd = 0;
  head.cluster.triage = {};
  return head;
}

void merge_triage(model::Triage& triage, const model::Triage& other) {
  if (other.since_ms < triage.since_ms) return;
  const std::uint64_t failures = std::max(triage.failures_since, other.failures_since);
  if (other.since_ms > triage.since_ms || triage == model::Triage()) {
    triage = other;
  } else {
    triage.failures_since = failures;
  }
}

}  // namespace

Merged merge_group(WriteBatch& batch, model::TenantId tenant, const GroupLine& line) {
  const Half half = line.cluster.key;
  const KeyBytes key = cluster_row_key(tenant, half);
  auto head = read_cluster(batch.txn, batch.tables, tenant, half);
  if (!head) {
    TenantGroups groups = read_tenant_groups(batch.txn, batch.tables, tenant);
    const bool counted_without = count_all(batch.txn, batch.tables, tenant, half) > 0;
    if (!line.decided || counted_without || groups.clusters >= batch.max_clusters) return Merged::left_out;
    ++groups.clusters;
    write_tenant_groups(batch.txn, batch.tables, tenant, groups);
    head = head_of(line.cluster);
  }
  const std::string before = encode_cluster(key, *head);
  head->cluster.first_ms = std::min(head->cluster.first_ms, line.cluster.first_ms);
  merge_triage(head->cluster.triage, line.cluster.triage);
  const std::string after = encode_cluster(key, *head);
  const auto stands = batch.txn.get(batch.tables.clusters.handle, key);
  if (stands && before == after) return Merged::unchanged;
  batch.txn.put(batch.tables.clusters.handle, key, after);
  batch.groups.log.note(tenant);
  return Merged::changed;
}

}  // namespace runwarden::store
