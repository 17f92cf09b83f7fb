// The schema of the database, and how it is made and raised, step by step.
//
// A step is one transaction that holds the lock of the table of steps, so that two who raise it at once do it once; an empty database gets all
// of them in one, so that nobody meets a schema that is half made. Each says from which schema on an older program may still run: a program
// refuses a schema whose newest step asks for more than it knows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/postgres/connection.h"

namespace runwarden::store::postgres {

constexpr int kSchemaVersion = 5;  // that this program makes

struct SchemaState {
  int version = 0;     // 0: there is none yet
  int compatible = 0;  // the least a program has to know
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

// Makes that of an empty database, and says which steps it did; does nothing where there is a schema, of whatever version. Throws PgFault.
std::vector<SchemaStep> make_schema(Connection& connection, std::int64_t now_ms);

// Does what is missing, and says which steps it did. An Error: what is there is not this program's, or too new. Throws PgFault.
Result<std::vector<SchemaStep>> raise_schema(Connection& connection, std::int64_t now_ms);

// Whether this program may use what is there; the Error names the remedy. Throws PgFault.
Status check_schema(Connection& connection);

constexpr std::int64_t kDayMs = std::int64_t{24} * 3600 * 1000;
// Days begin at multiples of kDayMs, before 1970 too.
std::int64_t day_of(std::int64_t time_ms);

// The tables that are cut by time, each into days.
const std::vector<const char*>& partitioned_tables();
// Makes the partitions of all of them for the day of that time, where they are missing. In a transaction of its own. Throws PgFault.
void make_partitions(Connection& connection, std::int64_t time_ms);
struct Partition {
  std::string name;  // with its schema
  std::int64_t end_ms = 0;
};
// Those there are, of all these tables. Throws PgFault.
std::vector<Partition> partitions(Connection& connection);

}  // namespace runwarden::store::postgres
