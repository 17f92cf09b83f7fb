#include "store/lmdb/keys.h"

#include <algorithm>
#include <cstring>

#include "store/record_codec.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kLongestName = 256;

std::string number_bytes(std::uint64_t number) {
  return std::string(KeyBytes().u64(number).view());
}

void check_name(const char* what, std::string_view name) {
  if (!name.empty() && name.size() <= kLongestName) return;
  throw StoreError(std::string(what) + " has " + std::to_string(name.size()) + " bytes; use 1 to " + std::to_string(kLongestName));
}

std::optional<std::int64_t> read_use(const Txn& txn, const Tables& tables, std::string_view id) {
  const auto value = txn.get(tables.key_uses.handle, id);
  if (!value) return std::nullopt;
  return decoded(tables.key_uses, id, [&] { return decode_place(id, *value).time_ms; });
}

}  // namespace

std::uint64_t read_meta(const Txn& txn, const Tables& tables, std::string_view name) {
  const auto value = txn.get(tables.meta.handle, name);
  if (!value) return 0;
  return decoded(tables.meta, name, [&] {
    const std::string_view number = open_head(name, *value);
    if (number.size() != 8) throw BadValue("the number has " + std::to_string(number.size()) + " bytes");
    return read_be(number, 0, 8);
  });
}

void write_meta(WriteTxn& txn, const Tables& tables, std::string_view name, std::uint64_t number) {
  txn.put(tables.meta.handle, name, seal(name, number_bytes(number)));
}

model::TenantId enter_tenant(WriteTxn& txn, const Tables& tables, const std::string& name) {
  check_name("a tenant's name", name);
  const Table& table = tables.tenants;
  if (const auto value = txn.get(table.handle, name)) {
    const auto number = decoded(table, name, [&] { return open_head(name, *value); });
    return static_cast<model::TenantId>(read_be(number, 0, 8));
  }
  const std::uint64_t next = read_meta(txn, tables, meta::kLastTenant) + 1;
  write_meta(txn, tables, meta::kLastTenant, next);
  txn.put(table.handle, name, seal(name, number_bytes(next)));
  return static_cast<model::TenantId>(next);
}

model::KeyRecord write_key(WriteTxn& txn, const Tables& tables, model::KeyRecord record) {
  check_name("a key's id", record.id);
  record.tenant = enter_tenant(txn, tables, record.tenant_name);
  txn.put(tables.keys.handle, record.id, encode_key(record.id, record));
  write_meta(txn, tables, meta::kKeysVersion, read_meta(txn, tables, meta::kKeysVersion) + 1);
  return record;
}

std::vector<model::Tenant> read_tenants(const Txn& txn, const Tables& tables) {
  std::vector<model::Tenant> tenants;
  const Table& table = tables.tenants;
  Cursor cursor(txn, table.handle);
  for (bool more = cursor.first(); more; more = cursor.next()) {
    const auto number = decoded(table, cursor.key(), [&] { return open_head(cursor.key(), cursor.value()); });
    tenants.push_back({static_cast<model::TenantId>(read_be(number, 0, 8)), std::string(cursor.key())});
  }
  return tenants;
}

std::vector<model::KeyRecord> read_keys(const Txn& txn, const Tables& tables) {
  std::vector<model::KeyRecord> keys;
  Cursor cursor(txn, tables.keys.handle);
  for (bool more = cursor.first(); more; more = cursor.next()) {
    model::KeyRecord record = decoded(tables.keys, cursor.key(), [&] { return decode_key(cursor.key(), cursor.value()); });
    if (const auto used = read_use(txn, tables, record.id)) record.last_used_ms = std::max(record.last_used_ms, *used);
    keys.push_back(std::move(record));
  }
  return keys;
}

void write_key_uses(WriteTxn& txn, const Tables& tables, std::span<const std::pair<std::string, std::int64_t>> last_used) {
  for (const auto& [id, ms] : last_used) {
    if (!txn.get(tables.keys.handle, id)) continue;
    if (read_use(txn, tables, id).value_or(model::kNever) >= ms) continue;
    txn.put(tables.key_uses.handle, id, encode_place(id, {ms, 0}));
  }
}

}  // namespace runwarden::store
