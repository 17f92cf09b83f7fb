#include "store/postgres/target_check.h"

#include "store/postgres/fault.h"
#include "store/postgres/schema.h"
#include "store/postgres/standby.h"

namespace runwarden::store::postgres {
namespace {

constexpr const char* kIsReadOnly = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool";
// Each returns a row for a right that the role lacks: the right, and on what. Without a schema, it has to be made.
constexpr const char* kLacksToMake =
    "SELECT 'CREATE', CASE WHEN n.oid IS NULL THEN 'database ' || current_database() ELSE 'schema runwarden' END"
    " FROM (SELECT to_regnamespace('runwarden')::oid AS oid) n WHERE NOT CASE WHEN n.oid IS NULL"
    " THEN has_database_privilege(current_database(), 'CREATE') ELSE has_schema_privilege(n.oid, 'CREATE') END";
// Partitions are made by owners of their tables.
constexpr const char* kLacksToServe =
    "SELECT p.name, 'table runwarden.' || c.relname FROM pg_class c CROSS JOIN unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) p(name)"
    " WHERE c.relnamespace = 'runwarden'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
    " AND NOT has_table_privilege(c.oid, p.name)"
    " UNION ALL SELECT 'ownership', 'table runwarden.' || c.relname FROM pg_class c"
    " WHERE c.relnamespace = 'runwarden'::regnamespace AND c.relkind = 'p' AND NOT pg_has_role(c.relowner, 'USAGE') LIMIT 1";

Error unfit(const std::string& why) {
  return {Code::unavailable, why, {}, {}};
}

Status check_rights(Connection& connection, const char* lacking) {
  const Rows rows = connection.query(lacking);
  if (rows.empty()) return Nothing{};
  const std::string role(connection.query("SELECT current_user::text").bytes(0, 0));
  return unfit("the role \"" + role + "\" lacks " + std::string(rows.bytes(0, 0)) + " on " + std::string(rows.bytes(0, 1)) +
               "; hosts need the role that owns the schema \"runwarden\"");
}

Status check_steps(Connection& connection) {
  if (schema_state(connection).version == 0) return Nothing{};
  const std::vector<int> changed = changed_steps(connection);
  if (changed.empty()) return Nothing{};
  return unfit("step " + std::to_string(changed.front()) +
               " of the database's schema was applied by another build, with a different text "
               "than this one's; compare it with a schema that `runwarden migrate` makes in an empty database (pg_dump -s -n runwarden)");
}

}  // namespace

Status check_target(Connection& connection) {
  if (connection.query(kIsReadOnly).boolean(0, 0)) return unfit(kTakesNoWrites);
  if (schema_state(connection).version == 0) return check_rights(connection, kLacksToMake);
  if (Status fits = check_schema(connection); !fits.ok()) return fits;
  return check_rights(connection, kLacksToServe);
}

Result<std::vector<std::string>> try_target(const ConnectSettings& settings) {
  std::vector<std::string> warnings;
  try {
    Connection connection(settings);
    if (const Status usable = check_target(connection); !usable.ok()) return usable.error();
    if (const Status same = check_steps(connection); !same.ok()) return same.error();
    if (!connection.query(std::string("SELECT ") + kHasSyncStandby).boolean(0, 0)) {
      warnings.emplace_back(
          "store.dsn: no synchronous standby confirms the database's commits; a failover may lose the latest acknowledged records");
    }
  } catch (const PgFault& fault) {
    return unfit(std::string("cannot use the database: ") + fault.what());
  }
  return warnings;
}

}  // namespace runwarden::store::postgres
