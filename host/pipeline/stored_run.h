// A stored run as clients read it: resolved, or with what its events have told so far. Any thread.
#pragma once

#include <string>

#include "model/records.h"
#include "store/store.h"

namespace runwarden::pipeline {

std::string stored_run_json(store::Store& store, model::TenantId tenant, const model::RunRecord& run);

}  // namespace runwarden::pipeline
