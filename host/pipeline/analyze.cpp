#include "pipeline/analyze.h"

#include <algorithm>

#include "base/json_text.h"
#include "pipeline/answers.h"

namespace runwarden::pipeline {

Result<Analysis> analyze(std::string_view run_json, const intake::RunLimits& limits, detect::DetectorSet& detectors,
                         std::string_view tenant, std::size_t worker) {
  auto run = intake::read_run(run_json, limits, {});
  if (!run.ok()) return std::move(run.error());
  Analysis analysis;
  analysis.verdict = detectors.evaluate(*run, tenant, worker);
  JsonWriter out(analysis.json);
  out.begin_object().key("failures").begin_array();
  for (const model::Finding& finding : analysis.verdict.findings) {
    out.raw(failure_json(finding, {}, run->id, 1, 0));
    analysis.max_score = std::max(analysis.max_score, finding.suspicion_score);
  }
  out.end_array().key("detectors").raw(detectors_json(analysis.verdict.reports)).end_object();
  return analysis;
}

}  // namespace runwarden::pipeline
