// How a database is reached, from what the configuration says of it. Reads files; any thread.
#pragma once

#include "base/result.h"
#include "store/postgres/connection.h"
#include "store/postgres_place.h"

namespace runwarden::store::postgres {

// Certificates are verified wherever the connection leaves this machine, unless store.allow_plaintext says otherwise. The Error names the key of
// the configuration: words that libpq does not know, a password among them, a connection that would not be verified, a password file that others
// can read.
Result<ConnectSettings> connect_settings(const PostgresPlace& place);

}  // namespace runwarden::store::postgres
