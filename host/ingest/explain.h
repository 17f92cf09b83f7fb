// Judges a stored run again, by the detectors in force now, and says how their answers come about. Nothing is kept. Any pool thread with
// its own worker number.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "base/work_pool.h"
#include "detect/detector_set.h"
#include "model/records.h"
#include "ingest/redaction.h"

namespace runwarden::ingest {

struct ExplainRequest {
  model::RunRecord run;  // its document: what detectors look at, also where it is open
  std::string tenant;
  const Redaction& redaction;
};

// The detectors see the run as it is kept: what redaction takes out of it cannot come back in an explanation. `done` is called once,
// on this thread or another of the pool, with the JSON of the answer: {"runId", "state", "resolution", "revision", "failures",
// "detectors", "explanation"}. A document that cannot be read as a run is not an error: every detector's report says so. False: this
// thread has been abandoned and must return from its task (WorkPool::run_with_deadline).
bool explain(ExplainRequest request, detect::DetectorSet& detectors, std::size_t worker, WorkPool& pool,
             std::function<void(Result<std::string>)> done);

}  // namespace runwarden::ingest
