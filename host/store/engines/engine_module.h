// An engine in a library of its own, so that programs that do not use it need none of its dependencies. Loaded once, never unloaded.
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "store/maintenance_commands.h"
#include "store/open_store.h"
#include "store/schema_status.h"

namespace runwarden::store {

class EngineModule {
 public:
  virtual ~EngineModule() = default;

  // Checks the place as open() would, and changes nothing. Returns warnings, or an Error that names the configuration key and
  // why open() would fail.
  virtual Result<std::vector<std::string>> try_target(const PostgresTarget& place) const = 0;
  virtual Result<std::unique_ptr<Store>> open(const StoreSettings& settings, const Clock& clock, Role role) const = 0;
  // With `raise`, applies the missing steps.
  virtual Result<SchemaStatus> migrate(const PostgresTarget& place, const Clock& clock, bool raise) const = 0;

  virtual Result<Exported> export_tenant(const MaintenanceContext& maintenance, const ExportQuery& query, const LineSink& sink) const = 0;
  virtual Result<Imported> import_lines(const MaintenanceContext& maintenance, const LineSource& next) const = 0;
  virtual Result<Purged> purge(const MaintenanceContext& maintenance, const PurgeQuery& query) const = 0;
  virtual Result<Expired> count_purge(const MaintenanceContext& maintenance, const PurgeQuery& query) const = 0;
  virtual Result<Verified> verify(const MaintenanceContext& maintenance) const = 0;
  virtual Result<AcceptedClock> accept_clock(const MaintenanceContext& maintenance) const = 0;
};

// What the library exports: the version of runwarden that it was built with, and the module.
constexpr const char* kEngineVersionSymbol = "runwarden_engine_version";
constexpr const char* kEngineSymbol = "runwarden_engine";
using EngineVersionFunction = const char*();
using EngineFunction = const EngineModule*();

// The engine for `driver: postgres`. The Error names the package, or the file and what is wrong with it. Any thread.
Result<const EngineModule*> postgres_engine();

}  // namespace runwarden::store
