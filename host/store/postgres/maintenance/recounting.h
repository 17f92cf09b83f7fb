// Recounts a group's failures. Internal to this folder; one thread, in an open transaction.
#pragma once

#include "model/cluster.h"
#include "store/cluster_recount.h"
#include "store/postgres/connection.h"

namespace runwarden::store::postgres {

ClusterRecount recount_cluster(Connection& connection, model::TenantId tenant, const model::ClusterKey& cluster);

}  // namespace runwarden::store::postgres
