// Recounts groups and the page's series from the records, and reports where the stored counts differ. Internal to store/. Each comparison
// uses one read transaction, so that concurrent writes cannot look like faults.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "store/lmdb/env.h"
#include "store/lmdb/groups.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"

namespace runwarden::store {

// Where a group's head disagrees with its failures or its history. Walks the group's failures. Also empty if one of them cannot be read;
// the check of that failure reports it.
std::vector<std::string> head_differences(const Txn& txn, const Tables& tables, model::TenantId tenant, const ClusterHead& head);

// The same for the tenant's own row, against all of its heads.
std::vector<std::string> totals_differences(const Txn& txn, const Tables& tables, model::TenantId tenant);

// The same for one entry of a series, against the levels below and above it. recount_series() checks what the finest level counts.
std::vector<std::string> level_differences(const Txn& txn, const Tables& tables, std::string_view key, std::string_view value);

// Compares the finest entries of a tenant's series with the runs and failures, window by window. `differs` gets the key of an entry that
// exists or should exist; `pause` is called between the windows.
struct SeriesRecount {
  std::function<void(const std::string& key, std::string detail)> differs;
  std::function<void()> pause;
};
void recount_series(LmdbEnv& env, const Tables& tables, model::TenantId tenant, const SeriesRecount& recount);

// Corrects what the head says about its failures, after unreadable ones were removed. Keeps since when the group is known and what was
// decided.
void recount_head(WriteBatch& batch, model::TenantId tenant, const Half& cluster);

}  // namespace runwarden::store
