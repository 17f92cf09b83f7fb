// API keys, tenants and secrets in the database. Any thread. Throws StoreAway and StoreError.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/key_record.h"
#include "model/record_key.h"
#include "store/postgres/pool.h"
#include "store/postgres/watch.h"

namespace runwarden::store::postgres {

// The number of the tenant of that name, made if it is new, in an open transaction; other new names wait until that ends. Throws PgFault.
model::TenantId enter_tenant(Connection& connection, const std::string& name);

class Keys {
 public:
  Keys(Pool& pool, Watch& watch) : pool_(pool), watch_(watch) {}

  // See KeyStore.
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
