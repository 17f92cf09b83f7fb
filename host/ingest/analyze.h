// Judges a run without keeping it. Pure, except for the detectors; any thread that owns its worker number.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/work_pool.h"
#include "detect/detector_set.h"
#include "intake/run_reader.h"
#include "ingest/explanation.h"
#include "ingest/redaction.h"

namespace runwarden::ingest {

struct Analysis {
  std::string json;   // {"failures": [...], "detectors": [...]}, and "warnings" and "explanation" where there are any
  int max_score = 0;  // of its failures, 0 if there is none
  std::string run_id;  // empty: it has none
  model::Verdict verdict;
  std::optional<RunExplanation> explanation;  // where one was asked for
};

// However long the detectors take: for a command.
Result<Analysis> analyze(std::string_view run_json, const intake::RunLimits& limits, detect::DetectorSet& detectors,
                         const Redaction& redaction, std::string_view tenant, std::size_t worker,
                         detect::Explain explain = detect::Explain::no);

// For the service: `done` is called once, on this thread or another of the pool, also when a detector does not return, and with an
// error where something failed on the other thread. False: this thread has been abandoned and must return from its task
// (WorkPool::run_with_deadline).
struct Wanted {
  std::string_view run_json;
  intake::RunLimits limits;
  std::string tenant;
  const Redaction& redaction;
};
bool analyze(const Wanted& wanted, detect::DetectorSet& detectors, std::size_t worker, WorkPool& pool,
             std::function<void(Result<Analysis>)> done);

}  // namespace runwarden::ingest
