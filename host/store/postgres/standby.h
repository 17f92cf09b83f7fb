// Whether a synchronous standby confirms commits. Internal to store/postgres.
#pragma once

namespace runwarden::store::postgres {

// A SQL expression. Without pg_read_all_stats, the state of a standby is hidden; then it is enough that the server says it waits for one.
constexpr const char* kHasSyncStandby =
    "(current_setting('synchronous_standby_names') <> ''"
    " AND EXISTS (SELECT FROM pg_stat_replication WHERE sync_state IS NULL OR sync_state IN ('sync', 'quorum')))";

}  // namespace runwarden::store::postgres
