// Judges a stored run again. Pure except for the detectors; any thread that owns its worker number.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/work_pool.h"
#include "detect/detector_set.h"
#include "ingest/redaction.h"
#include "model/verdict.h"

namespace runwarden::ingest {

// What the store keeps of a judged run.
struct KeptRun {
  std::string run_id;
  std::string tenant;    // its name
  std::string document;  // Run::document
};

// Calls `done` once, on this thread or another pool thread, even if a detector never returns; with unread_verdict() if the document cannot
// be read. Returns false if this thread has been abandoned and must return from its task (WorkPool::run_with_deadline). The detectors
// outlive the call.
bool judge_again(const KeptRun& run, detect::DetectorSet& detectors, const Redaction& redaction, std::size_t worker, WorkPool& pool,
                 std::function<void(model::Verdict)> done);

// For a document that cannot be read as a run: every live detector of the tenant has the status `error` with that reason.
model::Verdict unread_verdict(const detect::DetectorSet& detectors, std::string_view tenant, const std::string& why);

// Extracts the stored text of a run from what clients read (run_json()): the same bytes, even if the JSON was reformatted in between.
// validation_failed if it is not a run.
struct KeptText {
  std::string run_id;
  std::string document;
};
Result<KeptText> kept_text_of(std::string_view run_json);

}  // namespace runwarden::ingest
