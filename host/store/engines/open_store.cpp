#include "store/open_store.h"

#include <optional>
#include <utility>

#include "store/engines/engine_module.h"
#include "store/lmdb/service_lock.h"
#include "store/lmdb/store.h"

namespace runwarden::store {

Result<std::unique_ptr<Store>> open_store(const StoreSettings& settings, const Clock& clock, Role role) {
  if (settings.postgres) {
    const auto engine = postgres_engine();
    if (!engine.ok()) return engine.error();
    if (role == Role::command) return (*engine)->open(settings, clock, role);
    auto lock = ServiceLock::take(settings.state_dir);
    if (!lock.ok()) return std::move(lock.error());
    StoreSettings locked = settings;
    locked.kept = std::make_shared<ServiceLock>(std::move(*lock));
    return (*engine)->open(locked, clock, role);
  }
  LmdbSettings lmdb;
  lmdb.path = settings.state_dir;
  lmdb.map_size = settings.max_bytes;
  lmdb.keep_idempotency_ms = settings.keep_idempotency_ms;
  lmdb.if_lost = settings.if_lost;
  lmdb.max_clusters = settings.max_clusters;
  lmdb.max_pending_messages = settings.max_pending_messages;
  lmdb.dimension_names = settings.dimension_names;
  lmdb.listener = settings.listener;
  lmdb.ledger = settings.ledger;
  lmdb.queue.max_items = settings.max_waiting;
  lmdb.queue.max_bytes = settings.max_waiting_bytes;
  lmdb.queue.commit_interval_ms = settings.commit_interval_ms;
  lmdb.queue.max_commit_records = settings.max_commit_records;
  if (role == Role::command) return open_lmdb(lmdb, clock);
  auto lock = ServiceLock::take(settings.state_dir);
  if (!lock.ok()) return std::move(lock.error());
  lmdb.if_older = LmdbSettings::IfOlder::upgrade;
  return open_lmdb(lmdb, clock, std::move(*lock));
}

}  // namespace runwarden::store
