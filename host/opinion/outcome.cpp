#include "opinion/outcome.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "detect/fingerprint.h"
#include "ingest/answers.h"
#include "model/cluster.h"
#include "model/record_ids.h"

namespace runwarden::opinion {
namespace {

constexpr std::string_view kStepPlace = "{step}";

// The step's name for people: its name, otherwise its id; empty: no step.
std::string step_name(const model::Run& run, const std::string& step_id) {
  const auto found = std::find_if(run.steps.begin(), run.steps.end(), [&](const model::Step& one) { return one.id == step_id; });
  if (step_id.empty() || found == run.steps.end()) return {};
  return std::string(found->name.empty() ? found->id : found->name);
}

std::string title_of(const model::OpinionPrompt::FailureText& text, const std::string& step) {
  if (step.empty()) return text.title_of_run;
  std::string title = text.title;
  if (const std::size_t at = title.find(kStepPlace); at != std::string::npos) title.replace(at, kStepPlace.size(), step);
  return title;
}

model::Finding finding_of(const AnsweredOpinion& answered, const model::Run& run, const std::string& author) {
  const model::Opinion& opinion = answered.opinion;
  const model::OpinionPrompt::FailureText& text = answered.prompt.failure;
  const std::string step = step_name(run, opinion.primary_step_id);
  model::Finding finding;
  finding.detector_key = opinion.detector_key;
  finding.suspicion_score = text.score;
  finding.severity = text.severity;
  finding.source = text.source;
  finding.title = title_of(text, step);
  finding.summary =
      "The detector was not sure (" + opinion.rule + "); " + author + " read the run and confirmed it: " + answered.answer.reason;
  finding.primary_step_id = opinion.primary_step_id;
  for (const Quote& quote : answered.answer.evidence) finding.evidence.push_back({quote.pointer, quote.text});
  finding.fingerprint_step = step;
  finding.fingerprint_parts = {step, opinion.rule};
  finding.fingerprint = detect::fingerprint(opinion.detector_key, step, finding.fingerprint_parts);
  if (!opinion.detector_version.empty() || !opinion.settings_hash.empty()) {
    finding.provenance = std::make_shared<model::Provenance>(model::Provenance{opinion.detector_version, {}, opinion.settings_hash});
  }
  finding.confidence = opinion.confidence;
  finding.confirmed_by = author;
  return finding;
}

// A failure of an earlier revision that was reviewed keeps its key, and so its reviews.
model::RecordKey key_of(const AnsweredOpinion& answered, const model::Finding& finding, const OutcomeKeys& keys) {
  const std::string cluster_id = model::cluster_id(model::cluster_key(finding.fingerprint));
  for (const model::Review& review : answered.reviews) {
    const auto key = model::parse_failure_id(review.failure_id);
    if (key && review.cluster_id == cluster_id && review.detector_key == finding.detector_key) return *key;
  }
  return {answered.opinion.key.time_ms, keys.failure_seq};
}

model::FailureRecord failure_of(const AnsweredOpinion& answered, const model::Finding& finding, const OutcomeKeys& keys) {
  const model::Opinion& opinion = answered.opinion;
  model::FailureRecord failure;
  failure.key = key_of(answered, finding, keys);
  failure.id = model::make_failure_id(failure.key);
  failure.run = opinion.run;
  failure.detector_key = finding.detector_key;
  failure.severity = finding.severity;
  failure.score = finding.suspicion_score;
  failure.fingerprint = finding.fingerprint;
  failure.json = ingest::failure_json(finding, failure.id, opinion.run_id, opinion.revision, failure.key.time_ms);
  failure.title = model::kept_title(finding.title);
  failure.summary_mark = model::summary_mark(finding.summary);
  failure.executed_ms = answered.executed_ms;
  return failure;
}

model::OpinionState state_of(OpinionVerdict verdict) {
  switch (verdict) {
    case OpinionVerdict::present: return model::OpinionState::confirmed;
    case OpinionVerdict::absent: return model::OpinionState::denied;
    case OpinionVerdict::unclear: break;
  }
  return model::OpinionState::unclear;
}

bool may_be_silenced(const model::Opinion& alarm, const OutcomeSettings& settings) {
  return settings.may_silence && alarm.confidence && *alarm.confidence <= kMostSilencedConfidence;
}

// The verdict that the answer gives on the alarm or candidate.
model::ReviewVerdict verdict_of(const model::Opinion& opinion, OpinionVerdict verdict, const OutcomeSettings& settings) {
  using model::ReviewVerdict;
  if (verdict == OpinionVerdict::unclear) return ReviewVerdict::unsure;
  if (opinion.of_alarm) {
    if (verdict == OpinionVerdict::present) return ReviewVerdict::right;
    return may_be_silenced(opinion, settings) ? ReviewVerdict::false_alarm : ReviewVerdict::unsure;
  }
  if (verdict == OpinionVerdict::absent) return ReviewVerdict::clean;
  return settings.may_confirm ? ReviewVerdict::right : ReviewVerdict::missed;
}

}  // namespace

store::OpinionWrite outcome_of(AnsweredOpinion answered, const model::Run& run, const OutcomeSettings& settings, const OutcomeKeys& keys) {
  const std::string author = model::opinion_author(settings.model);
  const OpinionVerdict verdict = answered.answer.verdict;
  store::OpinionWrite write;
  write.tenant = answered.tenant;
  model::Review review;
  if (!answered.opinion.of_alarm && verdict == OpinionVerdict::present && settings.may_confirm) {
    write.failure = failure_of(answered, finding_of(answered, run, author), keys);
    answered.opinion.failure_id = write.failure->id;
    answered.cluster_id = model::cluster_id(model::cluster_key(write.failure->fingerprint));
  }
  const model::Opinion& opinion = answered.opinion;
  review.key = keys.review;
  review.run = opinion.run;
  review.run_id = opinion.run_id;
  review.revision = opinion.revision;
  review.failure_id = opinion.failure_id;
  if (!review.failure_id.empty()) review.cluster_id = answered.cluster_id;
  review.detector_key = opinion.detector_key;
  review.of_candidate = write.failure.has_value();
  review.detector_version = opinion.detector_version;
  review.settings_hash = opinion.settings_hash;
  review.verdict = verdict_of(opinion, verdict, settings);
  review.author = author;
  review.document =
      model::write_document(review, to_model_answer(answered.answer, std::move(answered.prompt_version), answered.elapsed_ms));

  write.opinion = std::move(answered.opinion);
  write.opinion.state = state_of(verdict);
  ++write.opinion.attempts;
  write.opinion.last_error.clear();
  write.opinion.review = review.document;
  const bool of_failure = !review.failure_id.empty();
  if (of_failure || verdict != OpinionVerdict::unclear) write.reviews.push_back(std::move(review));
  return write;
}

}  // namespace runwarden::opinion
