// Judges a stored run again with the detectors in force now, and explains their answers. Stores nothing. Any pool thread with its own
// worker number.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "base/work_pool.h"
#include "detect/detector_set.h"
#include "ingest/redaction.h"
#include "model/run_record.h"

namespace runwarden::ingest {

struct ExplainRequest {
  model::RunRecord run;  // its document is what detectors see, even if it is open
  std::string tenant;
  const Redaction& redaction;
};

// The detectors see the run as stored, so an explanation cannot reveal redacted text. Calls `done` once, on this thread or another pool
// thread, with the JSON of the answer: {"runId", "state", "resolution", "revision", "failures", "detectors", "explanation"}. A document
// that cannot be read as a run is not an error: every detector's report says so. Returns false if this thread has been abandoned and must
// return from its task (WorkPool::run_with_deadline).
bool explain(ExplainRequest request, detect::DetectorSet& detectors, std::size_t worker, WorkPool& pool,
             std::function<void(Result<std::string>)> done);

}  // namespace runwarden::ingest
