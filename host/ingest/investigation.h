// Compares a failure with the changes before it. Reads the store; any thread.
#pragma once

#include <optional>
#include <string>

#include "model/failure_record.h"
#include "model/record_key.h"
#include "store/run_store.h"

namespace runwarden::ingest {

// The change before a failure after which its fingerprint's failures per run rose most.
struct SuspectChange {
  std::string change_id;
  std::string json;  // as in an investigation
};
std::optional<SuspectChange> suspect_change(store::RunStore& store, model::TenantId tenant, const model::FailureRecord& failure);

// The JSON of GET /v1/failures/{failureId}/investigation.
std::string investigation_json(store::RunStore& store, model::TenantId tenant, const model::FailureRecord& failure);

}  // namespace runwarden::ingest
