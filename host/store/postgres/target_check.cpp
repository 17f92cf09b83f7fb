#include "store/postgres/target_check.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "store/postgres/fault.h"
#include "store/postgres/schema.h"
#include "store/postgres/standby.h"

namespace runwarden::store::postgres {
namespace {

// What libpq and the server say if there is no server, or if it accepts no connections now.
bool is_away(std::string_view text) {
  constexpr std::array<std::string_view, 8> kAway = {
      "Is the server running", "could not translate host name", "timeout expired",  "the database system is",
      "session is read-only",  "server closed the connection",  "too many clients", "connection slots are"};
  return std::any_of(kAway.begin(), kAway.end(), [&](std::string_view words) { return text.find(words) != std::string_view::npos; });
}

}  // namespace

Result<std::vector<std::string>> try_target(const ConnectSettings& settings) {
  std::vector<std::string> warnings;
  try {
    Connection connection(settings);
    if (schema_state(connection).version != 0) {
      if (Status fits = check_schema(connection); !fits.ok()) return std::move(fits.error());
    }
    if (!connection.query(std::string("SELECT ") + kHasSyncStandby).boolean(0, 0)) {
      warnings.emplace_back(
          "store.dsn: no synchronous standby confirms the database's commits; a failover may lose the latest acknowledged records");
    }
  } catch (const PgFault& fault) {
    if (!is_away(fault.what()))
      return Error{Code::unavailable, std::string("config: store.dsn: cannot use the database: ") + fault.what(), {}, {}};
    warnings.push_back(std::string("store.dsn: the database does not answer, so serve would not start: ") + fault.what());
  }
  return warnings;
}

}  // namespace runwarden::store::postgres
