// Tenants and their API keys, as they are stored. Values; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "model/record_key.h"

namespace runwarden::model {

struct Tenant {
  TenantId id = 0;
  std::string name;
};

// An API key. The key itself is never kept: only its SHA-256.
struct KeyRecord {
  std::string id;  // key_...; public
  TenantId tenant = 0;
  std::string tenant_name;
  std::string name;
  bool may_ingest = false;
  bool may_read = false;
  bool may_manage = false;
  Digest digest{};
  std::int64_t created_ms = 0;
  std::int64_t expires_ms = kNever;
  std::int64_t revoked_ms = kNever;  // refused from then on; in the future while a rotation overlaps
  bool revoked_at_once = false;      // refused whatever any clock says
  std::int64_t last_used_ms = kNever;
};

}  // namespace runwarden::model
