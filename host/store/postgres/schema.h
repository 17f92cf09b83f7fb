// The schema of the database, and how it is made and raised, step by step.
//
// A step is one transaction that locks the table of steps, so two processes that raise the schema at once do each step once. An empty
// database gets all steps in one transaction, so no one sees a half-made schema. Each step says from which schema version on older programs
// may still run: a program rejects a schema whose newest step requires a newer program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/postgres/connection.h"

namespace runwarden::store::postgres {

constexpr int kSchemaVersion = 6;  // made by this program

struct SchemaState {
  int version = 0;     // 0: there is none yet
  int compatible = 0;  // the lowest version that a program must know
};

// Throws PgFault.
SchemaState schema_state(Connection& connection);

struct SchemaStep {
  int version = 0;
  int compatible = 0;
  const char* name = "";
  const char* sql = "";
};
const std::vector<SchemaStep>& schema_steps();

// Makes the schema of an empty database and returns the steps it did. Does nothing if there is a schema of any version. Throws PgFault.
std::vector<SchemaStep> make_schema(Connection& connection, std::int64_t now_ms);

// Does the missing steps and returns them. An Error: the existing schema is not this program's, or too new. Throws PgFault.
Result<std::vector<SchemaStep>> raise_schema(Connection& connection, std::int64_t now_ms);

// The versions of applied steps whose text is not that of this program's step of the same version. Throws PgFault.
std::vector<int> changed_steps(Connection& connection);

// Whether this program may use the existing schema; the Error names the remedy. Throws PgFault.
Status check_schema(Connection& connection);

constexpr std::int64_t kDayMs = std::int64_t{24} * 3600 * 1000;
// Days begin at multiples of kDayMs, also before 1970.
std::int64_t day_of(std::int64_t time_ms);

// The tables that are partitioned by day.
const std::vector<const char*>& partitioned_tables();
// Makes the missing partitions of all these tables for the day of that time, in a transaction of its own. Throws PgFault.
void make_partitions(Connection& connection, std::int64_t time_ms);
struct Partition {
  std::string name;  // with its schema
  std::int64_t end_ms = 0;
};
// The existing partitions of all these tables. Throws PgFault.
std::vector<Partition> partitions(Connection& connection);

}  // namespace runwarden::store::postgres
