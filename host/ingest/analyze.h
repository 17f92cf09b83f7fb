// Judges a run without storing it. Pure except for the detectors; any thread that owns its worker number.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/work_pool.h"
#include "detect/detector_set.h"
#include "ingest/explanation.h"
#include "ingest/redaction.h"
#include "intake/run_reader.h"

namespace runwarden::ingest {

struct Analysis {
  std::string json;    // {"failures": [...], "detectors": [...]}, plus "warnings" and "explanation" if there are any
  int max_score = 0;   // the highest score of its failures; 0 if there are none
  std::string run_id;  // empty if the run has none
  model::Verdict verdict;
  std::optional<RunExplanation> explanation;  // only if requested
};

// What is analyzed, and by which rules. Views the caller's text.
struct AnalysisRequest {
  std::string_view run_json;
  intake::RunLimits limits;
  std::string tenant;
  const Redaction& redaction;
  std::string origin = {};  // for messages about a run without an id: its file and line
};

// For a process that may hang. Waits for the detectors however long they take.
Result<Analysis> analyze(const AnalysisRequest& request, detect::DetectorSet& detectors, std::size_t worker,
                         detect::Explain explain = detect::Explain::no);

// Calls `done` once, on this thread or another pool thread, even if a detector never returns; passes an error if something
// failed on the other thread. Returns false if this thread has been abandoned and must return from its task (WorkPool::run_with_deadline).
bool analyze(const AnalysisRequest& request, detect::DetectorSet& detectors, std::size_t worker, WorkPool& pool,
             std::function<void(Result<Analysis>)> done);

}  // namespace runwarden::ingest
