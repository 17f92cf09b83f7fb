// Writes of changes and policy revisions. Values; any thread.
#pragma once

#include <optional>

#include "model/change_record.h"
#include "model/record_key.h"
#include "store/idempotency.h"

namespace runwarden::store {

struct ChangeWrite {
  model::TenantId tenant = 0;
  model::ChangeRecord change;
  std::optional<Idempotency> idempotency;
};

// A policy revision; it is listed among the changes, too. Writing the same policy and revision again is a replay if the content is equal.
struct PolicyWrite {
  model::TenantId tenant = 0;
  model::PolicyRecord policy;
  std::optional<Idempotency> idempotency;
};

}  // namespace runwarden::store
