#include "store/postgres/ledger_keys.h"

#include "store/postgres/fault.h"
#include "store/postgres/group_rows.h"

namespace runwarden::store::postgres {
namespace {

constexpr const char* kKey = "ledger.key";
constexpr const char* kPreviousKey = "ledger.key.former";

constexpr const char* kTouch = "INSERT INTO runwarden.ledger_state VALUES (true, 0, 0, '', '') ON CONFLICT DO NOTHING";
// The timeline changes with a restore to an earlier time and when a standby takes over: either may have lost the last commits.
#define RUNWARDEN_HERE                                                                                                     \
  "(SELECT system_identifier::text FROM pg_control_system()) || '.' || 'runwarden.ledger'::regclass::oid::text || '.' || " \
  "left(pg_walfile_name(pg_current_wal_lsn()), 8)"
constexpr std::string_view kCommonsToSign =
    "SELECT state, since, public_key, database, " RUNWARDEN_HERE " FROM runwarden.ledger_state FOR SHARE";
constexpr std::string_view kCommonsToChange =
    "SELECT state, since, public_key, database, " RUNWARDEN_HERE " FROM runwarden.ledger_state FOR UPDATE";
constexpr std::string_view kHeadNow =
    "SELECT l.body, s.public_key, s.database <> " RUNWARDEN_HERE " FROM runwarden.ledger l, runwarden.ledger_state s WHERE l.tenant = $1";
#undef RUNWARDEN_HERE
constexpr const char* kPutCommons = "UPDATE runwarden.ledger_state SET state = $1, since = $2, public_key = $3, database = $4";
constexpr const char* kReadKeys = "SELECT name, value FROM runwarden.secret WHERE name IN ($1, $2)";
constexpr const char* kPutKey = "INSERT INTO runwarden.secret VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
constexpr const char* kMoveKey = R"sql(
INSERT INTO runwarden.secret SELECT $2, s.value FROM runwarden.secret s WHERE s.name = $1 ON CONFLICT (name) DO UPDATE SET value = excluded.value)sql";

struct CountStatement {
  const char* kind;
  const char* sql;
};
constexpr CountStatement kCountStatements[] = {
    {"runs", "SELECT tenant, count(*) FROM runwarden.run GROUP BY tenant"},
    {"failures", "SELECT tenant, count(*) FROM runwarden.failure WHERE NOT shadow GROUP BY tenant"},
    {"changes", "SELECT tenant, count(*) FROM runwarden.change GROUP BY tenant"},
    {"policies", "SELECT tenant, count(*) FROM runwarden.policy GROUP BY tenant"},
    {"triage", "SELECT tenant, count(*) FROM runwarden.triage GROUP BY tenant"}};

ledger::SigningKey key_of(const char* name, std::string_view pem) {
  auto key = ledger::SigningKey::from_pem(pem);
  if (!key.ok())
    throw StoreError(std::string("ledger: secret \"") + name + "\" of the database: " + key.error().detail + "; restore it from a backup");
  return std::move(*key);
}

}  // namespace

LedgerCommons lock_commons(Connection& connection, LockCommons lock) {
  const std::string_view sql = lock == LockCommons::to_sign ? kCommonsToSign : kCommonsToChange;
  Rows rows = connection.query(sql);
  if (rows.empty()) {
    connection.query(kTouch);
    rows = connection.query(sql);
  }
  if (rows.empty()) throw PgFault(PgFault::Kind::again, "40001", "the state of ledgers was deleted concurrently");
  LedgerCommons commons;
  commons.standing = ledger_standing_of(rows);
  commons.public_key = rows.bytes(0, 2);
  commons.database = rows.bytes(0, 3);
  commons.here = rows.bytes(0, 4);
  return commons;
}

void put_commons(Connection& connection, const LedgerCommons& commons) {
  connection.query(kPutCommons, std::move(Params()
                                              .i16(static_cast<std::int16_t>(commons.standing.state))
                                              .i64(column(commons.standing.since))
                                              .bytes(commons.public_key)
                                              .text(commons.database)));
}

std::optional<HeadNow> read_head_now(Connection& connection, model::TenantId tenant) {
  const Rows rows = connection.query(kHeadNow, std::move(Params().i32(column(tenant))));
  if (rows.empty()) return std::nullopt;
  return HeadNow{ledger_head_of(tenant, rows.bytes(0, 0)), std::string(rows.bytes(0, 1)), rows.boolean(0, 2)};
}

LedgerKeys read_keys(Connection& connection) {
  const Rows rows = connection.query(kReadKeys, std::move(Params().text(kKey).text(kPreviousKey)));
  LedgerKeys keys;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const bool is_current = rows.bytes(row, 0) == kKey;
    (is_current ? keys.current : keys.previous) = key_of(is_current ? kKey : kPreviousKey, rows.bytes(row, 1));
  }
  return keys;
}

void put_next_key(Connection& connection, const ledger::SigningKey& next) {
  connection.query(kMoveKey, std::move(Params().text(kKey).text(kPreviousKey)));
  connection.query(kPutKey, std::move(Params().text(kKey).bytes(next.pem())));
}

ledger::SigningKey ensure_key(Connection& connection, LedgerCommons& commons, LedgerWriter& writer) {
  LedgerKeys keys = read_keys(connection);
  if (!keys.current) {
    keys.current = ledger::SigningKey::make();
    put_next_key(connection, *keys.current);
  }
  if (commons.public_key == keys.current->public_key()) return std::move(*keys.current);
  if (!commons.public_key.empty()) {
    for (const model::TenantId tenant : tenants_with_ledgers(connection))
      writer.append_key(tenant, keys.current->public_key(), commons.public_key);
  }
  commons.public_key = keys.current->public_key();
  return std::move(*keys.current);
}

std::set<model::TenantId> tenants_with_ledgers(Connection& connection) {
  const Rows rows = connection.query("SELECT tenant FROM runwarden.ledger");
  std::set<model::TenantId> tenants;
  for (std::size_t row = 0; row < rows.size(); ++row) tenants.insert(tenant_at(rows, row, 0));
  return tenants;
}

std::map<model::TenantId, std::map<std::string, std::uint64_t>> count_records(Connection& connection) {
  std::map<model::TenantId, std::map<std::string, std::uint64_t>> counts;
  for (const CountStatement& one : kCountStatements) {
    const Rows rows = connection.query(one.sql);
    for (std::size_t row = 0; row < rows.size(); ++row) counts[tenant_at(rows, row, 0)][one.kind] = unsigned_at(rows, row, 1);
  }
  for (auto& [tenant, of] : counts) {
    for (const CountStatement& one : kCountStatements) of.try_emplace(one.kind, 0);
  }
  return counts;
}

std::string tenant_name(Connection& connection, model::TenantId tenant) {
  const Rows rows = connection.query("SELECT name FROM runwarden.tenant WHERE tenant = $1", std::move(Params().i32(column(tenant))));
  return rows.empty() ? std::string() : std::string(rows.bytes(0, 0));
}

}  // namespace runwarden::store::postgres
