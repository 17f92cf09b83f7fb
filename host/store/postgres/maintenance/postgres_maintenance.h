// What store/maintenance_commands.h promises of a whole store, for one in a PostgreSQL: the same lines and the same answers. All of it
// beside serving hosts.
//
// Each call opens connections for itself; its statements may take longer than the settings' answer_timeout. One thread. A call that is
// stopped, that fails or whose process is killed leaves the store as it was (a purge: some records fewer).
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "store/maintenance_commands.h"
#include "store/postgres/connection.h"
#include "store/schema_status.h"

namespace runwarden::store::postgres {

// Reads in short transactions and holds none of them while the sink works.
Result<Exported> export_tenant(const ConnectSettings& connect, const MaintenanceContext& maintenance, const ExportQuery& query,
                               const LineSink& sink);

// In one transaction, whichever engine the lines are of. Until it ends, a host that is given a run of an id that has come with it waits for
// it, and at its end whoever changes the groups that it changes. No webhook is told of it.
Result<Imported> import_lines(const ConnectSettings& connect, const MaintenanceContext& maintenance, const LineSource& next);

Result<Purged> purge(const ConnectSettings& connect, const MaintenanceContext& maintenance, const PurgeQuery& query);
Result<Expired> count_purge(const ConnectSettings& connect, const MaintenanceContext& maintenance, const PurgeQuery& query);

// What belongs to one day is read as of one moment.
Result<Verified> verify(const ConnectSettings& connect, const MaintenanceContext& maintenance);

// With `raise`, does the steps that are missing; else looks only.
Result<SchemaStatus> migrate(const ConnectSettings& connect, const Clock& clock, bool raise);

}  // namespace runwarden::store::postgres
