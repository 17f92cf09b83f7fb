// Lists from the LMDB tables, newest first. Each reads in transactions of a few thousand entries, so that none keeps freed pages from being
// reused for long. Internal to store/; any thread.
#pragma once

#include <functional>
#include <string>

#include "model/cluster.h"
#include "store/lmdb/env.h"
#include "store/lmdb/tables.h"
#include "store/opinion_store.h"
#include "store/queries.h"

namespace runwarden::store {

// Where a list reads from, and the callback for records that it skips because they cannot be read.
struct Listing {
  LmdbEnv& env;
  const Tables& tables;
  const std::function<void(const std::string& text)>& on_unreadable;
};

Page<model::RunRecord> list_runs(const Listing& from, model::TenantId tenant, const RunQuery& query);
// Runs with a failure of that group, each at the position of its newest one. The page's `next` is the key of a failure.
struct ClusterRef {
  model::TenantId tenant = 0;
  model::ClusterKey cluster{};
};
Page<model::RunRecord> list_cluster_runs(const Listing& from, const ClusterRef& of, const RunQuery& query);
Page<model::FailureRecord> list_failures(const Listing& from, model::TenantId tenant, const FailureQuery& query);
Page<model::ChangeRecord> list_changes(const Listing& from, model::TenantId tenant, const ChangeQuery& query);
Page<model::Opinion> list_candidates(const Listing& from, model::TenantId tenant, const CandidateQuery& query);
Page<model::PolicyRecord> list_policies(const Listing& from, model::TenantId tenant, const PolicyQuery& query);

}  // namespace runwarden::store
