// Seals and opens list cursors: opaque, URL-safe, and valid only for the tenant and query for which they were sealed. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/record_key.h"

namespace runwarden::auth {

class CursorSeal {
 public:
  // 32 secret bytes, the same on every host and after a restart, so that clients can continue a list.
  explicit CursorSeal(std::string secret) : secret_(std::move(secret)) {}

  // `query` identifies the list: path and filters in a canonical form.
  std::string seal(model::TenantId tenant, std::string_view query, const model::RecordKey& position) const;
  // Empty for a cursor that seal() did not produce for the same tenant and query.
  std::optional<model::RecordKey> open(model::TenantId tenant, std::string_view query, std::string_view cursor) const;

 private:
  std::string tag(model::TenantId tenant, std::string_view query, std::string_view position) const;

  std::string secret_;
};

}  // namespace runwarden::auth
