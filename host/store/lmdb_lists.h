// Lists, newest first, from the tables. Each reads in transactions of a few thousand entries, so that none stands in the way of
// pages being used again. For the files of store/ only; any thread.
#pragma once

#include "store/lmdb_env.h"
#include "store/queries.h"
#include "store/tables.h"

namespace runwarden::store {

Page<model::RunRecord> list_runs(LmdbEnv& env, const Tables& tables, model::TenantId tenant, const RunQuery& query);
Page<model::FailureRecord> list_failures(LmdbEnv& env, const Tables& tables, model::TenantId tenant, const FailureQuery& query);
Page<model::ChangeRecord> list_changes(LmdbEnv& env, const Tables& tables, model::TenantId tenant, const ChangeQuery& query);
Page<model::PolicyRecord> list_policies(LmdbEnv& env, const Tables& tables, model::TenantId tenant, const PolicyQuery& query);

}  // namespace runwarden::store
