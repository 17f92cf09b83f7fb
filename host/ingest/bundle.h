// One file with everything needed to judge a stored run again: the run, its failures, the detectors that judged it and their settings, and
// the policies and changes in force at that time. Reads the store; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "detect/detector_set.h"
#include "model/record_key.h"
#include "model/run_record.h"
#include "store/review_store.h"
#include "store/run_store.h"

namespace runwarden::ingest {

constexpr const char* kBundleFormat = "runwarden-bundle/1";

struct BundleRequest {
  model::TenantId tenant = 0;
  std::string tenant_name;
  model::RunRecord run;                         // the whole record, not only its head
  std::vector<detect::DetectorInfo> detectors;  // of the tenant, as they are now
  std::int64_t now_ms = 0;
  std::string ledger = {};  // JSON of the proof of the run's ledger entry; empty: it has none
};

// Returns the JSON text, including later reviews as GET /v1/runs/{runId} shows them. Returns `conflict` while the run is open, because
// there is no verdict to compare with yet.
//
// `libraries` has an entry for each detector that judged the run. A failure records the library and settings that found it. For a detector
// that found nothing they are unknown, so its entry shows those in force now. `settings` is null if the settings in force now differ.
Result<std::string> bundle_json(store::RunStore& store, store::ReviewStore& reviews, BundleRequest request);

}  // namespace runwarden::ingest
