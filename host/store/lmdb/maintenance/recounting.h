// Counts groups and the series of the page again from the records, and says where what is kept of them differs. For the files of store/
// only; each comparison is made in one read transaction, so that what is written meanwhile cannot look like a fault.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "store/lmdb/env.h"
#include "store/lmdb/groups.h"
#include "store/lmdb/tables.h"

namespace runwarden::store {

// What a group's head says and its failures or its history do not. Walks the group's failures. Empty also where one of them cannot be
// read: whoever looks at that failure tells of it.
std::vector<std::string> head_differences(const Txn& txn, const Tables& tables, model::TenantId tenant, const ClusterHead& head);

// The same of the tenant's own row, against all of its heads.
std::vector<std::string> totals_differences(const Txn& txn, const Tables& tables, model::TenantId tenant);

// The same of one entry of a series, against the level below it and above it. What the finest level counts is compared by
// recount_series().
std::vector<std::string> level_differences(const Txn& txn, const Tables& tables, std::string_view key, std::string_view value);

// The finest entries of a tenant's series against the runs and failures, window by window. `differs` gets the key of an entry that is
// there or should be; `pause` is called between the windows.
struct SeriesRecount {
  std::function<void(const std::string& key, std::string detail)> differs;
  std::function<void()> pause;
};
void recount_series(LmdbEnv& env, const Tables& tables, model::TenantId tenant, const SeriesRecount& recount);

// Makes what the head says of its failures true again, where some went that could not be read. It keeps since when it is known and what
// was decided.
void recount_head(WriteBatch& batch, model::TenantId tenant, const Half& cluster);

}  // namespace runwarden::store
