#include "ingest/judge_again.h"

#include <memory>
#include <utility>

namespace runwarden::ingest {

bool judge_again(const KeptRun& run, detect::DetectorSet& detectors, const Redaction& redaction, std::size_t worker, WorkPool& pool,
                 std::function<void(model::Verdict)> done) {
  const auto unread = [tenant = run.tenant, &detectors, done](const std::string& why) { done(unread_verdict(detectors, tenant, why)); };
  auto read = read_stored_run(run.document, run.run_id);
  if (!read.ok()) return unread(read.error().detail), true;
  auto redacted = redaction.run(std::move(*read));
  if (!redacted.ok()) return unread(redacted.error().detail), true;
  const auto shared = std::make_shared<const RedactedRun>(std::move(*redacted));
  const auto judged = [shared, done](std::size_t, detect::EvaluationResult evaluated) {
    shared->clean(evaluated.verdict);
    done(std::move(evaluated.verdict));
  };
  const auto failed = [unread] { unread("the run could not be judged"); };
  return detectors.evaluate({{shared, &shared->seen}, run.tenant}, worker, pool, {judged, failed});
}

model::Verdict unread_verdict(const detect::DetectorSet& detectors, std::string_view tenant, const std::string& why) {
  model::Verdict verdict;
  for (const detect::DetectorInfo& detector : detectors.list(tenant)) {
    const bool speaks = detector.enabled && detector.mode == model::DetectorMode::live;
    if (speaks) verdict.reports.push_back({detector.key, model::DetectorStatus::error, why, {}, 0});
  }
  return verdict;
}

Result<KeptText> kept_text_of(std::string_view run_json) {
  auto run = read_stored_run(run_json, {});
  if (!run.ok()) return std::move(run.error());
  return KeptText{std::string(run->id), std::move(run->document)};
}

}  // namespace runwarden::ingest
