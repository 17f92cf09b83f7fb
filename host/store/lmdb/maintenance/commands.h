// Implements store/maintenance_commands.h for a store in a folder. Copying exists for this engine only, and is declared there.
#pragma once

#include "store/maintenance_commands.h"

namespace runwarden::store::lmdb {

Result<Exported> export_tenant(const MaintenanceContext& maintenance, const ExportQuery& query, const LineSink& sink);
Result<Imported> import_lines(const MaintenanceContext& maintenance, const LineSource& next);
Result<Purged> purge(const MaintenanceContext& maintenance, const PurgeQuery& query);
Result<Expired> count_purge(const MaintenanceContext& maintenance, const PurgeQuery& query);
Result<Verified> verify(const MaintenanceContext& maintenance);
Result<AcceptedClock> accept_clock(const MaintenanceContext& maintenance);

}  // namespace runwarden::store::lmdb
