// Tries a place as serve would, for whoever checks a configuration. Makes and changes nothing.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/postgres/connection.h"

namespace runwarden::store::postgres {

// The warnings: that no database answers now, or that no synchronous standby confirms commits. An Error: what serve would refuse to start with
// whenever it does answer, such as its certificate, the password, or its schema.
Result<std::vector<std::string>> try_place(const ConnectSettings& settings);

}  // namespace runwarden::store::postgres
