// Whether a database is one to serve from. Creates and changes nothing.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/postgres/connection.h"

namespace runwarden::store::postgres {

// Whether it takes writes, its schema is this program's or can be made, and the role may do all that serving takes; the Error names the
// remedy. Throws PgFault.
Status check_target(Connection& connection);

// Tries a place as serve would, to check a configuration. A warning: no synchronous standby confirms commits. The Error: why serve would
// refuse to start.
Result<std::vector<std::string>> try_target(const ConnectSettings& settings);

}  // namespace runwarden::store::postgres
