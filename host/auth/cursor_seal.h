// Makes the cursors of lists, and takes them back: opaque, URL-safe, and good only for the tenant and the query they were made
// for. Any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/records.h"

namespace runwarden::auth {

class CursorSeal {
 public:
  // Any 32 bytes that only this service knows; the same after a restart, so that a walk can go on.
  explicit CursorSeal(std::string secret) : secret_(std::move(secret)) {}

  // With the secret of that file, which is made if it is not there.
  static Result<CursorSeal> of_file(const std::filesystem::path& path);

  // `query` says which list it is of: path and filters, in one form for one meaning.
  std::string seal(model::TenantId tenant, std::string_view query, const model::RecordKey& position) const;
  // Nothing for a cursor that was not made by seal() with the same tenant and query.
  std::optional<model::RecordKey> open(model::TenantId tenant, std::string_view query, std::string_view cursor) const;

 private:
  std::string tag(model::TenantId tenant, std::string_view query, std::string_view position) const;

  std::string secret_;
};

}  // namespace runwarden::auth
