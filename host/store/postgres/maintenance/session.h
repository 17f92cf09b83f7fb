// The connection of one maintenance command, and what becomes of what it throws. For the files of this folder only; one thread.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "store/envelope.h"
#include "store/errors.h"
#include "store/maintenance_commands.h"
#include "store/postgres/connection.h"

namespace runwarden::store::postgres {

// The caller's progress said to stop.
struct Stopped {};

// Tells the progress; throws Stopped.
void tell(const MaintenanceContext& maintenance, const Progress& progress);

// With the patience for statements that read much.
ConnectSettings patient(ConnectSettings connect);

// A connection to a database whose schema is this program's. Throws PgFault or StoreError.
std::unique_ptr<Connection> open_session(const ConnectSettings& connect);

// Its number; throws StoreError where there is no tenant of that name.
model::TenantId find_tenant(Connection& connection, const std::string& name);

// How many rows there are of tables, as the planner knows them; for the progress alone. A pattern of LIKE on names without their schema.
std::uint64_t about_how_many(Connection& connection, const std::string& tables);

// What all statements read as of one moment. The transaction ends with it.
class Snapshot {
 public:
  explicit Snapshot(Connection& connection) : connection_(connection) {
    connection_.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  }
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  Connection& connection_;
};

Error error_of_current_exception();

// Runs it; whatever it throws becomes an Error that names the database.
template <class Work>
auto guarded(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (...) {
    return error_of_current_exception();
  }
}

}  // namespace runwarden::store::postgres
