#include "store/postgres/maintenance/session.h"

#include <algorithm>
#include <exception>

#include "store/postgres/fault.h"
#include "store/postgres/schema.h"

namespace runwarden::store::postgres {
namespace {

constexpr std::chrono::milliseconds kLongestStatement = std::chrono::hours(1);

Error unavailable(const std::string& text) {
  return {Code::unavailable, text, {}, {}};
}

Error error_of(const PgFault& fault) {
  const std::string said = fault.what();
  if (dynamic_cast<const CannotConnect*>(&fault) != nullptr) return unavailable("store: cannot use the database of store.dsn: " + said);
  switch (fault.kind) {
    case PgFault::Kind::lost: return unavailable("store: the connection to the database was lost: " + said + "; try again");
    case PgFault::Kind::away: return unavailable("store: " + operator_text(fault) + "; try again later");
    case PgFault::Kind::again: return unavailable("store: a concurrent transaction interfered: " + said + "; try again");
    default: return unavailable("store: the database reported an error: " + said);
  }
}

}  // namespace

ConnectSettings patient(ConnectSettings connect) {
  connect.answer_timeout = std::max(connect.answer_timeout, kLongestStatement);
  return connect;
}

std::unique_ptr<Connection> open_session(const ConnectSettings& connect) {
  auto connection = std::make_unique<Connection>(patient(connect));
  if (const Status fit = check_schema(*connection); !fit.ok()) throw StoreError(fit.error().detail);
  return connection;
}

model::TenantId find_tenant(Connection& connection, const std::string& name) {
  const Rows rows = connection.query("SELECT tenant FROM runwarden.tenant WHERE name = $1", std::move(Params().text(name)));
  if (rows.empty()) throw StoreError("no tenant \"" + name + "\"; `runwarden keys list` shows the tenants that have keys");
  return static_cast<model::TenantId>(rows.number(0, 0));
}

std::uint64_t about_how_many(Connection& connection, const std::string& tables) {
  const Rows rows = connection.query(
      "SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
      " WHERE n.nspname = 'runwarden' AND c.relkind = 'r' AND c.relname LIKE $1",
      std::move(Params().text(tables)));
  return static_cast<std::uint64_t>(rows.number(0, 0));
}

Snapshot::~Snapshot() {
  try {
    connection_.rollback();
  } catch (const PgFault&) {  // it is lost, as the next statement will report
  }
}

Error error_of_current_exception() {
  try {
    throw;
  } catch (const Stopped&) {
    return unavailable("interrupted; nothing was left half done");
  } catch (const PgFault& fault) {
    return error_of(fault);
  } catch (const StoreError& refused) {
    return unavailable(std::string("store: ") + refused.what());
  } catch (const BadValue& bad) {
    return unavailable(std::string("store: ") + bad.what() + "; run `runwarden verify`");
  } catch (const std::exception& fault) {
    return {Code::internal, std::string("store: ") + fault.what(), {}, {}};
  }
}

}  // namespace runwarden::store::postgres
