// What the library offers to the program that loads it.
#include <string>

#include "store/engines/engine_module.h"
#include "store/postgres/dsn.h"
#include "store/postgres/engine.h"
#include "store/postgres/maintenance/postgres_maintenance.h"
#include "store/postgres/target_check.h"

namespace runwarden::store::postgres {
namespace {

class PostgresModule final : public EngineModule {
 public:
  Result<std::vector<std::string>> try_target(const PostgresTarget& place) const override {
    auto settings = connect_settings(place);
    if (!settings.ok()) return std::move(settings.error());
    auto tried = postgres::try_target(*settings);
    if (!tried.ok()) tried.error().detail = place.dsn_fault + tried.error().detail;
    return tried;
  }

  Result<std::unique_ptr<Store>> open(const StoreSettings& opening, const Clock& clock, Role role) const override {
    auto connect = connect_settings(*opening.postgres);
    if (!connect.ok()) return std::move(connect.error());
    const PostgresTarget& place = *opening.postgres;
    PostgresSettings settings;
    settings.connect = std::move(*connect);
    settings.write_connections = place.write_connections;
    settings.read_connections = place.read_connections;
    settings.patience = std::chrono::milliseconds(place.patience_ms);
    settings.require_sync_standby = place.require_sync_standby;
    settings.store = opening;
    return open_postgres(settings, clock, role);
  }

  Result<SchemaStatus> migrate(const PostgresTarget& place, const Clock& clock, bool raise) const override {
    auto settings = connect_settings(place);
    if (!settings.ok()) return std::move(settings.error());
    return postgres::migrate(*settings, clock, raise);
  }

  Result<Exported> export_tenant(const MaintenanceContext& maintenance, const ExportQuery& query, const LineSink& sink) const override {
    return connected<Exported>(maintenance,
                               [&](const ConnectSettings& at) { return postgres::export_tenant(at, maintenance, query, sink); });
  }
  Result<Imported> import_lines(const MaintenanceContext& maintenance, const LineSource& next) const override {
    return connected<Imported>(maintenance, [&](const ConnectSettings& at) { return postgres::import_lines(at, maintenance, next); });
  }
  Result<Purged> purge(const MaintenanceContext& maintenance, const PurgeQuery& query) const override {
    return connected<Purged>(maintenance, [&](const ConnectSettings& at) { return postgres::purge(at, maintenance, query); });
  }
  Result<Expired> count_purge(const MaintenanceContext& maintenance, const PurgeQuery& query) const override {
    return connected<Expired>(maintenance, [&](const ConnectSettings& at) { return postgres::count_purge(at, maintenance, query); });
  }
  Result<Verified> verify(const MaintenanceContext& maintenance) const override {
    return connected<Verified>(maintenance, [&](const ConnectSettings& at) { return postgres::verify(at, maintenance); });
  }
  Result<AcceptedClock> accept_clock(const MaintenanceContext& maintenance) const override {
    return connected<AcceptedClock>(maintenance, [&](const ConnectSettings& at) { return postgres::accept_clock(at, maintenance); });
  }

 private:
  template <class Done, class Work>
  static Result<Done> connected(const MaintenanceContext& maintenance, Work work) {
    auto settings = connect_settings(*maintenance.postgres);
    if (!settings.ok()) return std::move(settings.error());
    return work(*settings);
  }
};

}  // namespace
}  // namespace runwarden::store::postgres

extern "C" const char* runwarden_engine_version() {
  return RUNWARDEN_VERSION;
}

extern "C" const runwarden::store::EngineModule* runwarden_engine() {
  static const runwarden::store::postgres::PostgresModule engine;
  return &engine;
}
