#include "ingest/analyze.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/digest.h"
#include "base/json_text.h"
#include "ingest/answers.h"

namespace runwarden::ingest {

namespace {

struct ReadRun {
  RedactedRun run;
  std::optional<model::Run> explained;  // as redacted, if detectors see more than that and it is to be explained
  std::vector<Warning> warnings;
};

Analysis analysis_of(const ReadRun& read, model::Verdict verdict, detect::Explain explain = detect::Explain::no) {
  const RedactedRun& run = read.run;
  Analysis analysis;
  analysis.verdict = std::move(verdict);
  analysis.run_id = std::string(run.seen.id);
  run.clean(analysis.verdict);
  JsonWriter out(analysis.json);
  out.begin_object().key("failures").begin_array();
  for (const model::Finding& finding : analysis.verdict.findings) {
    out.raw(failure_json(finding, {}, run.seen.id, 1, 0));
    analysis.max_score = std::max(analysis.max_score, finding.suspicion_score);
  }
  out.end_array().key("detectors").raw(detectors_json(analysis.verdict.reports));
  if (!read.warnings.empty()) write_warnings(out.key("warnings"), read.warnings);
  if (explain == detect::Explain::yes) {
    analysis.explanation = explanation_of(read.explained ? *read.explained : run.seen, analysis.verdict);
    out.key("explanation").raw(explanation_json(*analysis.explanation));
  }
  out.end_object();
  return analysis;
}

Result<ReadRun> read(const AnalysisRequest& request, detect::Explain explain) {
  ReadRun read;
  auto run = intake::read_run(request.run_json, request.limits, {}, &read.warnings);
  if (!run.ok()) return request.redaction.error(std::move(run.error()), request.run_json);
  auto redacted = request.redaction.run(std::move(*run));
  if (!redacted.ok()) return std::move(redacted.error());
  read.run = std::move(*redacted);
  if (explain == detect::Explain::no || !read.run.redacted) return read;
  auto explained = read_stored_run(*read.run.redacted, read.run.seen.id);
  if (!explained.ok()) return std::move(explained.error());
  read.explained = std::move(*explained);
  return read;
}

}  // namespace

Result<Analysis> analyze(const AnalysisRequest& request, detect::DetectorSet& detectors, std::size_t worker, detect::Explain explain) {
  const auto run = read(request, explain);
  if (!run.ok()) return run.error();
  return analysis_of(*run, detectors.evaluate(run->run.seen, request.tenant, worker, explain), explain);
}

bool analyze(const AnalysisRequest& request, detect::DetectorSet& detectors, std::size_t worker, WorkPool& pool,
             std::function<void(Result<Analysis>)> done) {
  auto one = read(request, detect::Explain::no);
  if (!one.ok()) {
    done(std::move(one.error()));
    return true;
  }
  const auto run = std::make_shared<const ReadRun>(std::move(*one));
  const auto judged = [run, done](std::size_t, detect::EvaluationResult evaluated) {
    done(analysis_of(*run, std::move(evaluated.verdict)));
  };
  const auto failed = [done] { done(Error{Code::internal, "the run could not be analyzed; retry it", {}, {}}); };
  return detectors.evaluate({{run, &run->run.seen}, request.tenant, sha256(request.run_json), detect::Explain::no, request.origin}, worker,
                            pool, {judged, failed});
}

}  // namespace runwarden::ingest
