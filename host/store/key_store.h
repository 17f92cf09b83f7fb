// API keys, the tenants they are of, and the secrets of the service. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/records.h"
#include "store/errors.h"

namespace runwarden::store {

class KeyStore {
 public:
  virtual ~KeyStore() = default;

  // Adds the key, or replaces the one of that id; makes its tenant if the name is new and fills in the tenant id.
  // Throws StoreError when there is no room for it.
  virtual model::KeyRecord put_key(model::KeyRecord key) = 0;
  virtual std::vector<model::KeyRecord> keys() = 0;
  // Changes whenever a key was added or changed, by whichever process; cheap enough for every request.
  virtual std::uint64_t keys_version() = 0;
  // Whether keys may have been changed elsewhere that keys_version() did not tell of yet; it does from then on. May ask a database, and then
  // says no more than some hundred times a second that it did.
  virtual bool look_for_keys() { return false; }
  // Notes when keys were last used; does not change keys_version().
  virtual void touch_keys(std::span<const std::pair<std::string, std::int64_t>> last_used) = 0;
  virtual std::vector<model::Tenant> tenants() = 0;

  // The 32 bytes of that name ("cursor", "session"), to seal what clients are given to bring back. Made when they are first asked for; the
  // same for all that serve this store, also after a restart.
  virtual Result<std::string> secret(std::string_view name) = 0;
};

}  // namespace runwarden::store
