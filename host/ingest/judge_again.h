// Judges a run again from what is kept of it. Pure, except for the detectors; any thread that owns its worker number.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "detect/detector_set.h"
#include "ingest/redaction.h"
#include "model/verdict.h"

namespace runwarden::ingest {

// What is kept of a run that was judged.
struct KeptRun {
  std::string run_id;
  std::string tenant;    // its name
  std::string document;  // Run::document
};

// However long the detectors take: for a command. Of a document that cannot be read it is unread_verdict().
model::Verdict judge_again(const KeptRun& run, detect::DetectorSet& detectors, const Redaction& redaction, std::size_t worker);

// On a document that cannot be read as a run: every live detector of the tenant has the status `error`, for that reason.
model::Verdict unread_verdict(const detect::DetectorSet& detectors, std::string_view tenant, const std::string& why);

// The kept text of a run as clients read it (run_json()): the same bytes, however the JSON was written in between. validation_failed: it is
// no run.
struct KeptText {
  std::string run_id;
  std::string document;
};
Result<KeptText> kept_text_of(std::string_view run_json);

}  // namespace runwarden::ingest
