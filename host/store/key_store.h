// API keys, their tenants, and the secrets of the service. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/key_record.h"
#include "store/errors.h"

namespace runwarden::store {

class KeyStore {
 public:
  virtual ~KeyStore() = default;

  // Adds the key, or replaces the key with that id. Creates the tenant if its name is new, and fills in the tenant id. Throws StoreError if
  // there is no space left.
  virtual model::KeyRecord put_key(model::KeyRecord key) = 0;
  virtual std::vector<model::KeyRecord> keys() = 0;
  // Changes whenever any process adds or changes a key; cheap enough for every request. LMDB reads it from mapped memory, so that a key
  // which a command revokes is refused in the next request; a watch would let it pass until its next look.
  virtual std::uint64_t keys_version() = 0;
  // Brings keys_version() up to date with changes made elsewhere. True: it has done so. May query a database, but not more than some
  // hundred times a second.
  virtual bool look_for_keys() { return false; }
  // Records when keys were last used; does not change keys_version().
  virtual void touch_keys(std::span<const std::pair<std::string, std::int64_t>> last_used) = 0;
  virtual std::vector<model::Tenant> tenants() = 0;

  // The 32-byte secret of that name ("cursor", "session"), which seals what clients are given to bring back. Made on first use; the same
  // for all services of this store, also after a restart.
  virtual Result<std::string> secret(std::string_view name) = 0;
};

}  // namespace runwarden::store
