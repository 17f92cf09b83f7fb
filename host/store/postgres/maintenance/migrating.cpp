// Looks at the schema of a database, and raises it.
#include <algorithm>

#include "store/postgres/maintenance/postgres_maintenance.h"
#include "store/postgres/maintenance/session.h"
#include "store/postgres/schema.h"

namespace runwarden::store::postgres {
namespace {

SchemaStepStatus* find_step(SchemaStatus& status, int version) {
  const auto found =
      std::find_if(status.steps.begin(), status.steps.end(), [&](const SchemaStepStatus& step) { return step.version == version; });
  return found == status.steps.end() ? nullptr : &*found;
}

// The steps of this program, and those applied to the database.
SchemaStatus look(Connection& connection) {
  SchemaStatus status;
  status.wanted = kSchemaVersion;
  const SchemaState state = schema_state(connection);
  status.version = state.version;
  status.required = state.compatible;
  for (const SchemaStep& step : schema_steps()) status.steps.push_back({step.version, step.name, false, false, 0, {}, false});
  if (status.version == 0) return status;
  const Rows rows = connection.query("SELECT version, name, applied_ms, applied_by FROM runwarden.migration ORDER BY version");
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const int version = static_cast<int>(rows.number(row, 0));
    SchemaStepStatus* step = find_step(status, version);
    if (step == nullptr) {
      status.steps.push_back({version, std::string(rows.bytes(row, 1)), false, false, 0, {}, false});
      step = &status.steps.back();
    }
    step->done = true;
    step->applied_ms = rows.number(row, 2);
    step->applied_by = rows.bytes(row, 3);
  }
  for (const int version : changed_steps(connection)) find_step(status, version)->changed = true;
  return status;
}

}  // namespace

Result<SchemaStatus> migrate(const ConnectSettings& connect, const Clock& clock, bool raise) {
  return guarded([&]() -> Result<SchemaStatus> {
    Connection connection(patient(connect));  // a step may build an index
    std::vector<int> just_now;
    if (raise) {
      const auto done = raise_schema(connection, clock.wall_ms());
      if (!done.ok()) return done.error();
      for (const SchemaStep& step : *done) just_now.push_back(step.version);
    }
    SchemaStatus status = look(connection);
    for (SchemaStepStatus& step : status.steps) step.just_now = std::find(just_now.begin(), just_now.end(), step.version) != just_now.end();
    return status;
  });
}

}  // namespace runwarden::store::postgres
