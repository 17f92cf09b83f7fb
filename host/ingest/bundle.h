// One file with all that judging a stored run again takes: the run, what was found in it, by which detectors with which settings, and what
// was in force then. Reads the store; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "detect/detector_set.h"
#include "model/records.h"
#include "store/review_store.h"
#include "store/run_store.h"

namespace runwarden::ingest {

constexpr const char* kBundleFormat = "runwarden-bundle/1";

struct BundleRequest {
  model::TenantId tenant = 0;
  std::string tenant_name;
  model::RunRecord run;                         // whole
  std::vector<detect::DetectorInfo> detectors;  // of the tenant, as they are now
  std::int64_t now_ms = 0;
  std::string ledger = {};  // the JSON of the proof of its entry; empty: it has none
};

// The JSON text, with what was said of the run since as GET /v1/runs/{runId} shows it; or `conflict` while the run is open: there is
// nothing to compare with yet.
//
// `libraries` has an entry for each detector that judged the run. A failure says by which library and settings it was found; of a detector
// that found nothing that is not known, and its entry is what is in force now. `settings` is null where those in force now are others.
Result<std::string> bundle_json(store::RunStore& store, store::ReviewStore& reviews, BundleRequest request);

}  // namespace runwarden::ingest
