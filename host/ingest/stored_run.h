// A stored run as clients read it: resolved, or with what its events have told so far. Any thread.
#pragma once

#include <string>

#include "model/records.h"
#include "store/run_store.h"

namespace runwarden::ingest {

std::string stored_run_json(store::RunStore& store, model::TenantId tenant, const model::RunRecord& run);

// What detectors look at of it: the run alone, as JSON; of an open one, as its events have told it so far.
std::string stored_document(store::RunStore& store, model::TenantId tenant, model::RunRecord run);

// Without its steps, from its head alone; a run written by a version that kept no outline is read whole to make one.
std::string stored_outline_json(store::RunStore& store, model::TenantId tenant, model::RunRecord head);

}  // namespace runwarden::ingest
