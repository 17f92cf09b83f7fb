// Imports second opinions. Internal to this folder; one thread, in the import's open transaction.
#pragma once

#include <set>

#include "store/postgres/connection.h"
#include "store/postgres/maintenance/import_tally.h"

namespace runwarden::store::postgres {

// Leaves out opinions on runs in `refused`. Throws BadLine if a run does not exist.
void store_opinions(Connection& connection, ImportTally& tally, model::TenantId tenant, const TakenLines<OpinionLine>& lines,
                    const std::set<model::RecordKey>& refused);

}  // namespace runwarden::store::postgres
