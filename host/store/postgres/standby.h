// What tells whether commits are confirmed by a synchronous standby. For the files of store/postgres only.
#pragma once

namespace runwarden::store::postgres {

// An expression of SQL. A standby whose state is not shown is not ours to see (that takes pg_read_all_stats): then the server's word has to do
// that it waits for one.
constexpr const char* kHasSyncStandby =
    "(current_setting('synchronous_standby_names') <> ''"
    " AND EXISTS (SELECT FROM pg_stat_replication WHERE sync_state IS NULL OR sync_state IN ('sync', 'quorum')))";

}  // namespace runwarden::store::postgres
