#include "store/lmdb/maintenance/merge_group.h"

#include "store/lmdb/groups.h"

namespace runwarden::store {

Merged merge_group(WriteBatch& batch, model::TenantId tenant, const GroupLine& line, Brings brings) {
  const Half half = line.cluster.key;
  const KeyBytes key = cluster_row_key(tenant, half);
  auto head = read_cluster(batch.txn, batch.tables, tenant, half);
  if (!head) {
    TenantGroups groups = read_tenant_groups(batch.txn, batch.tables, tenant);
    const bool counted_without = count_all(batch.txn, batch.tables, tenant, half) > 0;
    if (!line.decided || counted_without || groups.clusters >= batch.max_clusters) return Merged::left_out;
    ++groups.clusters;
    write_tenant_groups(batch.txn, batch.tables, tenant, groups);
    head = head_without_failures(line.cluster);
  }
  const std::string before = encode_cluster(key, *head);
  merge_cluster(*head, line.cluster, brings);
  const std::string after = encode_cluster(key, *head);
  const auto stands = batch.txn.get(batch.tables.clusters.handle, key);
  if (stands && before == after) return Merged::unchanged;
  batch.txn.put(batch.tables.clusters.handle, key, after);
  batch.groups.log.note(tenant);
  return Merged::changed;
}

}  // namespace runwarden::store
