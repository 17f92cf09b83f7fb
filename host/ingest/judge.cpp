#include "ingest/judge.h"

#include <algorithm>
#include <utility>

#include "base/json_text.h"
#include "model/cluster.h"
#include "model/dimensions.h"
#include "model/record_ids.h"
#include "ingest/answers.h"
#include "ingest/judge_again.h"

namespace runwarden::ingest {
namespace {

// Gives each finding that an earlier revision had, too, the key that it had: its id, its reviews and what links to it stay.
class EarlierKeys {
 public:
  explicit EarlierKeys(std::vector<store::EarlierFailure> earlier) : left_(std::move(earlier)) {}

  std::optional<model::RecordKey> take(const model::Finding& finding) {
    if (left_.empty()) return std::nullopt;
    const std::string cluster_id = model::cluster_id(model::cluster_key(finding.fingerprint));
    const auto same = std::find_if(left_.begin(), left_.end(), [&](const store::EarlierFailure& one) {
      return one.detector_key == finding.detector_key && one.shadow == finding.shadow && one.cluster_id == cluster_id;
    });
    if (same == left_.end()) return std::nullopt;
    const model::RecordKey key = same->key;
    left_.erase(same);
    return key;
  }

 private:
  std::vector<store::EarlierFailure> left_;
};

model::RunOutline outline_of(const RedactedRun& run, model::OutcomeFrom outcome) {
  return run.redacted ? model::outline_of(*run.redacted, outcome) : model::outline_of(run.seen, outcome);
}

// `in_use`: an abandoned detector call still reads what detectors see.
std::string take_document(RedactedRun& run, bool in_use) {
  if (run.redacted) return std::move(*run.redacted);
  return in_use ? run.seen.document : std::move(run.seen.document);
}

}  // namespace

bool Judge::judge(RedactedRun run, const RunMetadata& metadata, std::size_t worker, Callbacks callbacks) {
  const auto shared = std::make_shared<RedactedRun>(std::move(run));
  auto judged = [this, shared, metadata, done = std::move(callbacks.done)](std::size_t other, detect::EvaluationResult evaluated) {
    parts_.on_verdict(evaluated.verdict);
    shared->clean(evaluated.verdict);
    const std::int64_t time_ms = executed_ms(shared->seen, metadata);
    model::RunOutline outline = outline_of(*shared, metadata.outcome);
    auto dimensions = model::dimensions_of(outline, shared->document(), parts_.dimensions);
    std::string run_id(shared->seen.id);  // copied: seen.id is a view into data that is moved next
    store::RunWrite write = write_of(std::move(run_id), take_document(*shared, evaluated.run_in_use), evaluated.verdict, metadata);
    for (model::FailureRecord& failure : write.failures) failure.executed_ms = time_ms;
    write.run.executed_ms = time_ms;
    stamp_policies(write.run, metadata);
    model::set_arrays(outline, write.run);
    write.run.outline = std::move(outline);
    write.run.dimensions = std::move(dimensions);
    add_opinions(write, evaluated.verdict, metadata);
    done(other, std::move(write));
  };
  return parts_.detectors()->evaluate({{shared, &shared->seen}, metadata.tenant_name, metadata.content}, worker, parts_.pool,
                                      {std::move(judged), std::move(callbacks.failed)});
}

store::RunWrite Judge::write_unread(std::string run_id, std::string document, const std::string& why, const RunMetadata& metadata) {
  store::RunWrite write =
      write_of(std::move(run_id), std::move(document), unread_verdict(*parts_.detectors(), metadata.tenant_name, why), metadata);
  write.run.executed_ms = metadata.key.time_ms;
  stamp_policies(write.run, metadata);
  write.run.outline = model::outline_of(write.run.document, metadata.outcome);
  write.run.dimensions = model::dimensions_of(*write.run.outline, write.run.document, parts_.dimensions);
  model::set_arrays(*write.run.outline, write.run);
  return write;
}

store::RunWrite Judge::write_of(std::string run_id, std::string document, const model::Verdict& verdict, const RunMetadata& metadata) {
  store::RunWrite write;
  write.tenant = metadata.tenant;
  model::RunRecord& record = write.run;
  record.key = metadata.key;
  record.run_id = std::move(run_id);
  record.revision = metadata.revision;
  record.resolution = metadata.resolution;
  record.source = metadata.source;
  record.root_arrived = metadata.root_arrived;
  record.resolved_ms = metadata.now_ms;
  record.failures_json = "[";
  EarlierKeys earlier(metadata.earlier);
  const auto key_of = [&](const model::Finding& finding) {
    const auto known = earlier.take(finding);
    return known ? *known : model::RecordKey{metadata.now_ms, parts_.store.next_seq()};
  };
  for (const model::Finding& finding : verdict.findings) {
    model::FailureRecord failure = failure_of(finding, key_of(finding), record.run_id, metadata.revision);
    record.failures_json.append(record.failures_json.size() > 1 ? "," : "").append(failure.json);
    record.max_score = std::max(record.max_score, finding.suspicion_score);
    record.fired.push_back(finding.detector_key);
    write.failures.push_back(std::move(failure));
  }
  for (const model::Finding& finding : verdict.shadow_findings)
    write.failures.push_back(failure_of(finding, key_of(finding), record.run_id, metadata.revision));
  std::sort(record.fired.begin(), record.fired.end());
  record.fired.erase(std::unique(record.fired.begin(), record.fired.end()), record.fired.end());
  record.failures_json += ']';
  record.detectors_json = detectors_json(verdict.reports);
  record.document = std::move(document);
  return write;
}

model::FailureRecord Judge::failure_of(const model::Finding& finding, const model::RecordKey& key, std::string_view run_id,
                                       std::uint32_t revision) {
  model::FailureRecord failure;
  failure.key = key;
  failure.id = model::make_failure_id(failure.key);
  failure.detector_key = finding.detector_key;
  failure.severity = finding.severity;
  failure.score = finding.suspicion_score;
  failure.fingerprint = finding.fingerprint;
  failure.json = failure_json(finding, failure.id, run_id, revision, key.time_ms);
  failure.shadow = finding.shadow;
  failure.title = model::kept_title(finding.title);
  failure.summary_mark = model::summary_mark(finding.summary);
  if (finding.waste_usd) failure.waste_micro_usd = model::micro_usd(*finding.waste_usd);
  return failure;
}

void Judge::add_opinions(store::RunWrite& write, const model::Verdict& verdict, const RunMetadata& metadata) {
  write.opinions = questions_of(verdict, write.failures, parts_.opinions);
  if (write.opinions.empty()) return;
  const std::vector<detect::DetectorInfo> detectors = parts_.detectors()->list(metadata.tenant_name);
  for (model::Opinion& question : write.opinions) {
    question.key = {metadata.now_ms, parts_.store.next_seq()};
    question.id = model::make_candidate_id(question.key);
    question.run = write.run.key;
    question.run_id = write.run.run_id;
    question.revision = write.run.revision;
    question.due_ms = metadata.now_ms;
    const auto known = std::find_if(detectors.begin(), detectors.end(), [&](const auto& one) { return one.key == question.detector_key; });
    if (known == detectors.end()) continue;
    question.detector_version = known->version;
    question.settings_hash = known->settings_hash;
  }
}

// Adds the policies that were in force when the run executed.
void Judge::stamp_policies(model::RunRecord& run, const RunMetadata& metadata) {
  auto policies = metadata.policies;
  if (!policies)
    policies = std::make_shared<const std::vector<model::PolicyInForce>>(parts_.store.in_force_at(metadata.tenant, run.executed_ms));
  run.policies_json.clear();
  JsonWriter out(run.policies_json);
  out.begin_array();
  for (const model::PolicyInForce& one : *policies) {
    out.begin_object().key("policy").string(one.policy).key("revision").string(one.revision).end_object();
    run.policy_contents.push_back(one.content);
  }
  out.end_array();
}

}  // namespace runwarden::ingest
