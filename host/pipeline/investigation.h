// Lines a failure up with what changed before it. Reads the store; any thread.
#pragma once

#include <string>

#include "model/records.h"
#include "store/store.h"

namespace runwarden::pipeline {

// The JSON of GET /v1/failures/{failureId}/investigation.
std::string investigation_json(store::Store& store, model::TenantId tenant, const model::FailureRecord& failure);

}  // namespace runwarden::pipeline
