// Implements store/maintenance_commands.h for a store on PostgreSQL: the same lines and the same answers. Everything runs alongside serving
// hosts.
//
// Each call opens its own connections, whose statements may take longer than the settings' answer_timeout. One thread. A call that is
// stopped, fails or is killed leaves the store as it was (a purge: with fewer records).
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "store/maintenance_commands.h"
#include "store/postgres/connection.h"
#include "store/schema_status.h"

namespace runwarden::store::postgres {

// Reads in short transactions, and holds none of them while the sink works.
Result<Exported> export_tenant(const ConnectSettings& connect, const MaintenanceContext& maintenance, const ExportQuery& query,
                               const LineSink& sink);

// Runs in one transaction, for lines of either engine. Until it ends, a host that receives a run with an imported id waits for it; so do,
// near its end, hosts that change the same groups. Sends no messages to webhooks.
Result<Imported> import_lines(const ConnectSettings& connect, const MaintenanceContext& maintenance, const LineSource& next);

Result<Purged> purge(const ConnectSettings& connect, const MaintenanceContext& maintenance, const PurgeQuery& query);
Result<Expired> count_purge(const ConnectSettings& connect, const MaintenanceContext& maintenance, const PurgeQuery& query);

// Reads everything that belongs to one day as of one moment.
Result<Verified> verify(const ConnectSettings& connect, const MaintenanceContext& maintenance);

// Confirms the database's clock.
Result<AcceptedClock> accept_clock(const ConnectSettings& connect, const MaintenanceContext& maintenance);

// With `raise`, does the missing steps; otherwise only looks.
Result<SchemaStatus> migrate(const ConnectSettings& connect, const Clock& clock, bool raise);

}  // namespace runwarden::store::postgres
