#include "store/postgres/keys.h"

#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "store/postgres/note.h"
#include "store/postgres/row.h"

namespace runwarden::store::postgres {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kLongestName = 256;

enum Scope : std::int16_t { kIngest = 1, kRead = 2, kManage = 4 };

std::optional<std::int64_t> or_null(std::int64_t time_ms) {
  return time_ms == model::kNever ? std::nullopt : std::optional(time_ms);
}

std::int64_t or_never(const Rows& rows, std::size_t row, int column) {
  return rows.is_null(row, column) ? model::kNever : rows.number(row, column);
}

void check_name(const char* what, std::string_view name) {
  if (name.empty() || name.size() > kLongestName) {
    throw StoreError(std::string(what) + " has " + std::to_string(name.size()) + " bytes; use 1 to " + std::to_string(kLongestName));
  }
  if (!is_text(name)) throw StoreError(std::string(what) + " is not UTF-8 text, or contains a NUL; use a different one");
}

model::TenantId as_tenant(const Rows& rows) { return static_cast<model::TenantId>(rows.number(0, 0)); }

std::int16_t scopes_of(const model::KeyRecord& key) {
  return static_cast<std::int16_t>((key.may_ingest ? kIngest : 0) | (key.may_read ? kRead : 0) | (key.may_manage ? kManage : 0));
}

constexpr const char* kWriteKey =
    "INSERT INTO runwarden.api_key (id, tenant, name, scopes, digest, created_ms, expires_ms, revoked_ms, revoked_at_once)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO UPDATE SET tenant = excluded.tenant, name = excluded.name,"
    " scopes = excluded.scopes, digest = excluded.digest, created_ms = excluded.created_ms, expires_ms = excluded.expires_ms,"
    " revoked_ms = excluded.revoked_ms, revoked_at_once = excluded.revoked_at_once";

// Rows are locked in the order of their ids, whichever host writes.
constexpr const char* kWriteUses =
    "INSERT INTO runwarden.key_use SELECT u.id, u.used_ms FROM unnest($1, $2) AS u(id, used_ms) JOIN runwarden.api_key k ON k.id = u.id "
    "ORDER BY u.id"
    " ON CONFLICT (id) DO UPDATE SET used_ms = excluded.used_ms WHERE runwarden.key_use.used_ms < excluded.used_ms";

}  // namespace

model::TenantId enter_tenant(Connection& connection, const std::string& name) {
  constexpr const char* kFind = "SELECT tenant FROM runwarden.tenant WHERE name = $1";
  if (const Rows there = connection.query(kFind, std::move(Params().text(name))); !there.empty()) return as_tenant(there);
  connection.query("SELECT value FROM runwarden.counter WHERE name = 'tenant' FOR UPDATE");
  if (const Rows meanwhile = connection.query(kFind, std::move(Params().text(name))); !meanwhile.empty()) return as_tenant(meanwhile);
  return as_tenant(connection.query(
      "WITH next AS (UPDATE runwarden.counter SET value = value + 1 WHERE name = 'tenant' RETURNING value)"
      " INSERT INTO runwarden.tenant SELECT value, $1 FROM next RETURNING tenant",
      std::move(Params().text(name))));
}

// Repeating it changes nothing, so a lost connection leaves no doubt.
model::KeyRecord Keys::put_key(model::KeyRecord key) {
  check_name("a key's id", key.id);
  check_name("a tenant's name", key.tenant_name);
  const auto version = pool_.read([&](Connection& connection) {
    connection.script(std::string("BEGIN; ") + kDurable);
    key.tenant = enter_tenant(connection, key.tenant_name);
    Params params;
    params.text(key.id)
        .i32(static_cast<std::int32_t>(key.tenant))
        .text(key.name)
        .i16(scopes_of(key))
        .bytes(view(key.digest))
        .i64(key.created_ms);
    params.i64_or_null(or_null(key.expires_ms)).i64_or_null(or_null(key.revoked_ms)).boolean(key.revoked_at_once);
    connection.query(kWriteKey, std::move(params));
    const Rows note = connection.query(
        kWriteNote, std::move(Params().i16(static_cast<std::int16_t>(Watch::What::keys)).i32(static_cast<std::int32_t>(key.tenant))));
    connection.script("COMMIT");
    return static_cast<std::uint64_t>(note.number(0, 0));
  });
  watch_.raise(Watch::What::keys, version);
  if (key.last_used_ms != model::kNever) touch_keys(std::vector<std::pair<std::string, std::int64_t>>{{key.id, key.last_used_ms}});
  return key;
}

std::vector<model::KeyRecord> Keys::keys() {
  const Rows rows = pool_.read([](Connection& connection) {
    return connection.query(
        "SELECT k.id, k.tenant, t.name, k.name, k.scopes, k.digest, k.created_ms, k.expires_ms, k.revoked_ms, k.revoked_at_once, u.used_ms"
        " FROM runwarden.api_key k JOIN runwarden.tenant t USING (tenant) LEFT JOIN runwarden.key_use u ON u.id = k.id ORDER BY k.id");
  });
  std::vector<model::KeyRecord> keys;
  keys.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    model::KeyRecord key;
    key.id = rows.bytes(row, 0);
    key.tenant = static_cast<model::TenantId>(rows.number(row, 1));
    key.tenant_name = rows.bytes(row, 2);
    key.name = rows.bytes(row, 3);
    const std::int64_t scopes = rows.number(row, 4);
    key.may_ingest = (scopes & kIngest) != 0;
    key.may_read = (scopes & kRead) != 0;
    key.may_manage = (scopes & kManage) != 0;
    const std::string_view digest = rows.bytes(row, 5);  // the table accepts no other length
    std::copy_n(reinterpret_cast<const std::uint8_t*>(digest.data()), std::min(digest.size(), key.digest.size()), key.digest.begin());
    key.created_ms = rows.number(row, 6);
    key.expires_ms = or_never(rows, row, 7);
    key.revoked_ms = or_never(rows, row, 8);
    key.revoked_at_once = rows.boolean(row, 9);
    key.last_used_ms = or_never(rows, row, 10);
    keys.push_back(std::move(key));
  }
  return keys;
}

void Keys::touch_keys(std::span<const std::pair<std::string, std::int64_t>> last_used) {
  std::vector<std::string> ids;
  std::vector<std::int64_t> times;
  for (const auto& [id, used_ms] : last_used) {
    ids.push_back(id);
    times.push_back(used_ms);
  }
  pool_.read([&](Connection& connection) { return connection.query(kWriteUses, std::move(Params().texts(ids).i64s(times))); });
}

std::vector<model::Tenant> Keys::tenants() {
  const Rows rows =
      pool_.read([](Connection& connection) { return connection.query("SELECT tenant, name FROM runwarden.tenant ORDER BY name"); });
  std::vector<model::Tenant> tenants;
  tenants.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    tenants.push_back({static_cast<model::TenantId>(rows.number(row, 0)), std::string(rows.bytes(row, 1))});
  }
  return tenants;
}

// The first caller makes it; another one at the same moment reads what the first one made.
Result<std::string> Keys::secret(std::string_view name) {
  std::string fresh(kSecretBytes, '\0');
  if (::getrandom(fresh.data(), fresh.size(), 0) != static_cast<ssize_t>(fresh.size())) {
    return Error{Code::internal, "cannot create the secret \"" + std::string(name) + "\": the system returned no random bytes", {}, {}};
  }
  try {
    return pool_.read([&](Connection& connection) {
      constexpr const char* kFind = "SELECT value FROM runwarden.secret WHERE name = $1";
      if (const Rows there = connection.query(kFind, std::move(Params().text(name))); !there.empty()) return std::string(there.bytes(0, 0));
      connection.query("INSERT INTO runwarden.secret VALUES ($1, $2) ON CONFLICT DO NOTHING", std::move(Params().text(name).bytes(fresh)));
      return std::string(connection.query(kFind, std::move(Params().text(name))).bytes(0, 0));
    });
  } catch (const StoreError& fault) {
    return Error{Code::unavailable, "cannot read the secret \"" + std::string(name) + "\": " + fault.what(), {}, {}};
  }
}

}  // namespace runwarden::store::postgres
