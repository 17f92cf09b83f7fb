#include "store/open_store.h"

#include <cerrno>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include "store/upgrade.h"

namespace runwarden::store {

OpenStore::OpenStore(const std::filesystem::path& folder, std::uint64_t map_size, StoreUse::Kind use, LmdbSettings::IfOlder if_older)
    : env({.folder = folder, .map_size = map_size, .databases = kMostTables, .use = use, .machine = {}}) {
  if (env.read_only()) {
    open_for_reading();
    return;
  }
  WriteTxn txn = env.write();
  tables.each([&](Table& table) { table.handle = txn.open_database(table.name); });
  settle_format(txn, tables, if_older);
  txn.commit();
  give_files_to_owner_of(folder);
}

void OpenStore::open_for_reading() {
  tables.each([&](Table& table) { table.handle = env.open_existing(table.name); });
  require_format(env.read(), tables);
}

void tell(const Upkeep& upkeep, const Progress& progress) {
  if (upkeep.on_progress && !upkeep.on_progress(progress)) throw Stopped{};
}

Error error_of_current_exception(const Upkeep& upkeep) {
  const std::string store = "store: \"" + upkeep.folder.string() + "\": ";
  try {
    throw;
  } catch (const Stopped&) {
    return {Code::unavailable, "interrupted; nothing was left half done", {}, {}};
  } catch (const NoRoom& full) {
    return {Code::unavailable,
            store + "there is no room: " + full.what() + "; raise store.map_size, or free some of the disk, and do it again",
            {},
            {}};
  } catch (const LmdbFault& fault) {
    const bool damaged = fault.code == MDB_CORRUPTED || fault.code == MDB_PAGE_NOTFOUND || fault.code == MDB_PANIC ||
                         fault.code == MDB_INVALID || fault.code == MDB_CURSOR_FULL;
    return {Code::unavailable, store + fault.what() + (damaged ? "; its pages are damaged: restore a backup" : ""), {}, {}};
  } catch (const StoreError& refused) {
    return {Code::unavailable, store + refused.what(), {}, {}};
  } catch (const BadValue& bad) {
    return {Code::unavailable, store + bad.what() + "; run `runwarden verify`", {}, {}};
  } catch (const std::system_error& fault) {
    return {Code::unavailable, fault.what(), {}, {}};
  } catch (const std::exception& fault) {
    return {Code::internal, store + fault.what(), {}, {}};
  }
}

}  // namespace runwarden::store
