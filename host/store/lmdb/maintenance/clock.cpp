#include "store/lmdb/keys.h"
#include "store/lmdb/last_use.h"
#include "store/lmdb/maintenance/open_store.h"
#include "store/upkeep.h"

namespace runwarden::store {

Result<AcceptedClock> accept_clock(const Upkeep& upkeep) {
  return guarded(upkeep, [&]() -> Result<AcceptedClock> {
    OpenStore store(upkeep.folder, upkeep.map_size, StoreUse::Kind::shared, LmdbSettings::IfOlder::refuse);
    WriteTxn txn = store.env.write();
    const AcceptedClock accepted{read_last_use(txn, store.tables), upkeep.clock.wall_ms()};
    write_clock_note(txn, store.tables, accepted.now_ms);
    write_meta(txn, store.tables, meta::kClockAccepts, read_meta(txn, store.tables, meta::kClockAccepts) + 1);
    txn.commit();
    return accepted;
  });
}

}  // namespace runwarden::store
