// Creates API keys, `rw_<public part>_<secret>`. Only their SHA-256 is stored. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/key_record.h"
#include "model/record_key.h"

namespace runwarden::auth {

enum class Scope : std::uint8_t { ingest, read, manage };
const char* name(Scope scope);

struct NewKey {
  std::string key;  // shown once, when it is created
  model::KeyRecord record;
};

// Creates a key for `wanted` (tenant_name, name, scopes, created_ms, expires_ms) and fills in id and digest.
// 64 random bits in the public part, 256 in the secret, both from the operating system.
Result<NewKey> make_key(model::KeyRecord wanted);

// The stored digest of a key.
model::Digest digest_of(std::string_view key);

}  // namespace runwarden::auth
