// API keys, tenants and secrets in the database. Any thread. Throws StoreAway and StoreError.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/records.h"
#include "store/postgres/pool.h"
#include "store/postgres/watch.h"

namespace runwarden::store::postgres {

// The number of the tenant of that name, made where it is new, in an open transaction; new names take turns until its end. Throws PgFault.
model::TenantId enter_tenant(Connection& connection, const std::string& name);

class Keys {
 public:
  Keys(Pool& pool, Watch& watch) : pool_(pool), watch_(watch) {}

  // Each as KeyStore says.
  model::KeyRecord put_key(model::KeyRecord key);
  std::vector<model::KeyRecord> keys();
  void touch_keys(std::span<const std::pair<std::string, std::int64_t>> last_used);
  std::vector<model::Tenant> tenants();
  Result<std::string> secret(std::string_view name);

 private:
  Pool& pool_;
  Watch& watch_;
};

}  // namespace runwarden::store::postgres
