// Rows of groups, histories and webhooks: the keys that seal their values, and columns. Internal to store/postgres.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster.h"
#include "store/errors.h"
#include "store/key_encoding.h"
#include "store/postgres/row.h"
#include "store/postgres/rows.h"

namespace runwarden::store::postgres {

inline std::string_view view(const model::ClusterKey& key) { return {key.data(), key.size()}; }
inline model::ClusterKey cluster_key_of(std::string_view bytes) {
  model::ClusterKey key{};
  if (bytes.size() != key.size()) throw StoreError("the database has a group whose key has " + std::to_string(bytes.size()) + " bytes");
  std::copy_n(bytes.data(), key.size(), key.begin());
  return key;
}

inline KeyBytes cluster_place(model::TenantId tenant, const model::ClusterKey& cluster) {
  return KeyBytes().u32(tenant).bytes(view(cluster));
}
inline KeyBytes triage_place(model::TenantId tenant, const model::ClusterKey& cluster, const model::RecordKey& entry) {
  return cluster_place(tenant, cluster).time(entry.time_ms).u64(entry.seq);
}
inline KeyBytes endpoint_place(model::TenantId tenant, std::uint64_t endpoint_seq) { return KeyBytes().u32(tenant).u64(endpoint_seq); }
inline KeyBytes delivery_place(model::TenantId tenant, std::uint64_t endpoint_seq, const model::RecordKey& delivery) {
  return endpoint_place(tenant, endpoint_seq).time(delivery.time_ms).u64(delivery.seq);
}
inline KeyBytes tail_place(model::TenantId tenant) { return KeyBytes().u32(tenant); }

inline std::int32_t column(model::TenantId tenant) { return static_cast<std::int32_t>(tenant); }
inline std::vector<std::int32_t> columns_of(const std::set<model::TenantId>& tenants) {
  return {tenants.begin(), tenants.end()};
}
inline std::int64_t column(std::uint64_t number) { return static_cast<std::int64_t>(number); }
inline model::TenantId tenant_at(const Rows& rows, std::size_t row, int column) {
  return static_cast<model::TenantId>(rows.number(row, column));
}
inline std::uint64_t unsigned_at(const Rows& rows, std::size_t row, int column) {
  return static_cast<std::uint64_t>(rows.number(row, column));
}

}  // namespace runwarden::store::postgres
