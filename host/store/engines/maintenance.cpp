#include "store/engines/engine_module.h"
#include "store/lmdb/maintenance/commands.h"

namespace runwarden::store {
namespace {

// Calls the engine that has the records.
template <class Done, class InDatabase, class InFolder>
Result<Done> by_place(const MaintenanceContext& maintenance, InDatabase in_database, InFolder in_folder) {
  if (!maintenance.postgres) return in_folder();
  const auto engine = postgres_engine();
  if (!engine.ok()) return engine.error();
  return in_database(**engine);
}

}  // namespace

Result<Exported> export_tenant(const MaintenanceContext& maintenance, const ExportQuery& query, const LineSink& sink) {
  return by_place<Exported>(
      maintenance, [&](const EngineModule& engine) { return engine.export_tenant(maintenance, query, sink); },
      [&] { return lmdb::export_tenant(maintenance, query, sink); });
}

Result<Imported> import_lines(const MaintenanceContext& maintenance, const LineSource& next) {
  return by_place<Imported>(
      maintenance, [&](const EngineModule& engine) { return engine.import_lines(maintenance, next); },
      [&] { return lmdb::import_lines(maintenance, next); });
}

Result<Purged> purge(const MaintenanceContext& maintenance, const PurgeQuery& query) {
  return by_place<Purged>(
      maintenance, [&](const EngineModule& engine) { return engine.purge(maintenance, query); },
      [&] { return lmdb::purge(maintenance, query); });
}

Result<Expired> count_purge(const MaintenanceContext& maintenance, const PurgeQuery& query) {
  return by_place<Expired>(
      maintenance, [&](const EngineModule& engine) { return engine.count_purge(maintenance, query); },
      [&] { return lmdb::count_purge(maintenance, query); });
}

Result<Verified> verify(const MaintenanceContext& maintenance) {
  return by_place<Verified>(
      maintenance, [&](const EngineModule& engine) { return engine.verify(maintenance); },
      [&] { return lmdb::verify(maintenance); });
}

Result<AcceptedClock> accept_clock(const MaintenanceContext& maintenance) {
  return by_place<AcceptedClock>(
      maintenance, [&](const EngineModule& engine) { return engine.accept_clock(maintenance); },
      [&] { return lmdb::accept_clock(maintenance); });
}

}  // namespace runwarden::store
