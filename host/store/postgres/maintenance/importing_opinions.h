// Second opinions of an import. For the files of this folder only; one thread, in the import's open transaction.
#pragma once

#include <set>

#include "store/postgres/connection.h"
#include "store/postgres/maintenance/import_tally.h"

namespace runwarden::store::postgres {

// Those on runs in `refused` are left out. Throws BadLine where there is no such run.
void store_opinions(Connection& connection, ImportTally& tally, model::TenantId tenant, const TakenLines<OpinionLine>& lines,
                    const std::set<model::RecordKey>& refused);

}  // namespace runwarden::store::postgres
