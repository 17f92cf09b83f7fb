// Makes API keys: `rw_<public part>_<secret>`, of which only the SHA-256 is ever kept. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/records.h"

namespace runwarden::auth {

enum class Scope : std::uint8_t { ingest, read };

struct NewKey {
  std::string key;  // shown once, to whom it is made for
  model::KeyRecord record;
};

// A fresh key for what `wanted` says (tenant_name, name, scopes, created_ms, expires_ms); id and digest are filled in.
// 64 random bits in the public part, 256 in the secret, both from the operating system.
Result<NewKey> make_key(model::KeyRecord wanted);

// What is kept of a key.
model::Digest digest_of(std::string_view key);

}  // namespace runwarden::auth
