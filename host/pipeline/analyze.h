// Judges a run without keeping it. Pure but for the detectors; any thread that owns its worker number.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "detect/detector_set.h"
#include "intake/run_reader.h"

namespace runwarden::pipeline {

struct Analysis {
  std::string json;   // {"failures": [...], "detectors": [...]}
  int max_score = 0;  // of its failures, 0 if there is none
  model::Verdict verdict;
};

Result<Analysis> analyze(std::string_view run_json, const intake::RunLimits& limits, detect::DetectorSet& detectors,
                         std::string_view tenant, std::size_t worker);

}  // namespace runwarden::pipeline
