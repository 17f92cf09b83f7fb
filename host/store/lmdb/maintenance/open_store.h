// Opens a store's folder for maintenance: the environment and its tables, without the service's memory of open runs. Internal to store/;
// one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "store/lmdb/env.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"
#include "store/maintenance_progress.h"

namespace runwarden::store {

struct OpenStore {
  // Throws LmdbFault, NoRoom or StoreError, also if there is no store.
  OpenStore(const std::filesystem::path& folder, std::uint64_t map_size, StoreUse::Kind use, LmdbSettings::IfOlder if_older);

  LmdbEnv env;
  Tables tables;
};

Error error_of_current_exception(const MaintenanceContext& maintenance);

// Runs `work`; any exception becomes an Error that names the folder.
template <class Work>
auto guarded(const MaintenanceContext& maintenance, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (...) {
    return error_of_current_exception(maintenance);
  }
}

// Passes every entry of a table, from a key on, to `visit`, in read transactions of at most kSliceEntries entries. `visit` also gets the
// transaction, for look-ups, and returns how to go on. `pause` is called between the transactions.
constexpr std::size_t kSliceEntries = 512;
enum class Visited { proceed, end_slice, end };

template <class Visit, class Pause>
void walk_slices(LmdbEnv& env, const Table& table, std::string from, Visit visit, Pause pause) {
  for (bool more = true; more;) {
    {
      const ReadTxn txn = env.read();
      Cursor cursor(txn, table.handle);
      more = from.empty() ? cursor.first() : cursor.at_or_after(from);
      for (std::size_t seen = 0; more && seen < kSliceEntries; more = cursor.next(), ++seen) {
        const auto proceed = visit(static_cast<const Txn&>(txn), cursor.key(), cursor.value());
        if (proceed == Visited::end) return pause();
        if (proceed == Visited::end_slice) seen = kSliceEntries;
      }
      if (more) from = cursor.key();
    }
    pause();
  }
}

}  // namespace runwarden::store
