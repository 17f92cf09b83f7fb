// A stored run as clients read it: resolved, or open with the events received so far. Any thread.
#pragma once

#include <string>

#include "model/record_key.h"
#include "model/run_record.h"
#include "store/run_store.h"

namespace runwarden::ingest {

std::string stored_run_json(store::RunStore& store, model::TenantId tenant, const model::RunRecord& run);

// What detectors see: only the run, as JSON. For an open run, as assembled from the events received so far.
std::string stored_document(store::RunStore& store, model::TenantId tenant, model::RunRecord run);

// The run without its steps, from its head only. If an older version wrote the run without an outline, reads the whole run to make one.
std::string stored_outline_json(store::RunStore& store, model::TenantId tenant, model::RunRecord head);

}  // namespace runwarden::ingest
