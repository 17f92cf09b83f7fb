#include "store/lmdb/keys.h"
#include "store/lmdb/last_use.h"
#include "store/lmdb/maintenance/commands.h"
#include "store/lmdb/maintenance/open_store.h"
#include "store/maintenance_commands.h"

namespace runwarden::store {

Result<AcceptedClock> lmdb::accept_clock(const MaintenanceContext& maintenance) {
  return guarded(maintenance, [&]() -> Result<AcceptedClock> {
    OpenStore store(maintenance.folder, maintenance.max_bytes, StoreUse::Kind::shared, LmdbSettings::IfOlder::refuse);
    WriteTxn txn = store.env.write();
    const AcceptedClock accepted{read_last_use(txn, store.tables), maintenance.clock.wall_ms()};
    write_clock_note(txn, store.tables, accepted.now_ms);
    write_meta(txn, store.tables, meta::kClockAccepts, read_meta(txn, store.tables, meta::kClockAccepts) + 1);
    txn.commit();
    return accepted;
  });
}

}  // namespace runwarden::store
