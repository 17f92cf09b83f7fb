#include "ingest/explain.h"

#include <memory>
#include <utility>

#include "base/json_text.h"
#include "ingest/answers.h"
#include "ingest/explanation.h"
#include "ingest/judge_again.h"

namespace runwarden::ingest {
namespace {

std::string answer(const model::RunRecord& record, const model::Run& run, const model::Verdict& verdict) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("runId").string(record.run_id).key("state").string(name(record.state));
  if (record.state == model::RunState::resolved) out.key("resolution").string(name(record.resolution));
  out.key("revision").integer(record.revision).key("failures").begin_array();
  for (const model::Finding& finding : verdict.findings) out.raw(failure_json(finding, {}, record.run_id, record.revision, 0));
  out.end_array().key("detectors").raw(detectors_json(verdict.reports));
  out.key("explanation").raw(explanation_json(explanation_of(run, verdict))).end_object();
  return text;
}

// For a run that cannot be read: every detector has the status `error`.
std::string unread(const model::RunRecord& record, const std::string& why, const std::string& tenant,
                   const detect::DetectorSet& detectors) {
  return answer(record, {}, unread_verdict(detectors, tenant, why));
}

}  // namespace

bool explain(ExplainRequest request, detect::DetectorSet& detectors, std::size_t worker, WorkPool& pool,
             std::function<void(Result<std::string>)> done) {
  auto redacted = request.redaction.stored_run(request.run.document, request.run.run_id);
  if (!redacted.ok()) {
    const Error error = request.redaction.error(std::move(redacted.error()), request.run.document);
    done(unread(request.run, error.detail, request.tenant, detectors));
    return true;
  }
  request.run.document.clear();
  const auto run = std::make_shared<const RedactedRun>(std::move(*redacted));
  const model::Digest content = request.run.content;
  const auto judged = [run, record = std::move(request.run), done](std::size_t, detect::EvaluationResult evaluated) {
    run->clean(evaluated.verdict);
    done(answer(record, run->seen, evaluated.verdict));
  };
  const auto failed = [done] { done(Error{Code::internal, "the run could not be explained; retry the request", {}, {}}); };
  return detectors.evaluate({{run, &run->seen}, request.tenant, content, detect::Explain::yes}, worker, pool, {judged, failed});
}

}  // namespace runwarden::ingest
