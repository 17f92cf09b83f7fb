// Confirms the clock of the database, which hosts follow.
#include "store/postgres/database_clock.h"
#include "store/postgres/duties.h"
#include "store/postgres/maintenance/postgres_maintenance.h"
#include "store/postgres/maintenance/session.h"

namespace runwarden::store::postgres {

Result<AcceptedClock> accept_clock(const ConnectSettings& connect, const MaintenanceContext& maintenance) {
  return guarded([&]() -> Result<AcceptedClock> {
    const auto connection = open_session(connect);
    DatabaseClock time(maintenance.clock);
    time.look(*connection);
    const AcceptedClock accepted{read_last_use(*connection), time.now_ms()};
    // One statement, so that no host's note of the time comes in between.
    connection->query(
        "WITH accepts AS (UPDATE runwarden.counter SET value = value + 1 WHERE name = 'clock_accepts')"
        " INSERT INTO runwarden.counter VALUES ('clock', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        std::move(Params().i64(accepted.now_ms)));
    return accepted;
  });
}

}  // namespace runwarden::store::postgres
