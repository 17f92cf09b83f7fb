#include "store/confirmed_failure.h"

#include <algorithm>

#include "model/cluster.h"

namespace runwarden::store {

model::FailureRecord confirmed_failure(StoredRun& run, model::FailureRecord failure) {
  failure.run = run.run.key;
  failure.grouped = true;
  failure.executed_ms = run.run.executed_ms == model::kNotExecuted ? run.run.key.time_ms : run.run.executed_ms;
  if (failure.title.empty()) model::read_summary(failure);
  run.failures.push_back(failure.key);
  run.run.confirmed.push_back(failure.key);
  run.run.max_score = std::max(run.run.max_score, failure.score);
  const auto at = std::lower_bound(run.run.fired.begin(), run.run.fired.end(), failure.detector_key);
  if (at == run.run.fired.end() || *at != failure.detector_key) run.run.fired.insert(at, failure.detector_key);
  return failure;
}

bool is_confirmed_candidate(const model::Opinion& opinion) {
  return !opinion.of_alarm && opinion.state == model::OpinionState::confirmed;
}

model::Review run_review_subject(const model::Opinion& candidate) {
  model::Review subject;
  subject.run = candidate.run;
  subject.detector_key = candidate.detector_key;
  return subject;
}

bool overrules(const model::Review& review, const model::Opinion& candidate) {
  return review.verdict == model::ReviewVerdict::clean && review.revision == candidate.revision;
}

bool outweighs(const model::Review& last, const model::Review& by_model) {
  const bool is_an_earlier_models = model::is_by_model(last.author) && last.revision < by_model.revision;
  return last.verdict != model::ReviewVerdict::none && !is_an_earlier_models;
}

model::Opinion overruled(model::Opinion candidate) {
  candidate.state = model::OpinionState::denied;
  candidate.failure_id.clear();
  return candidate;
}

}  // namespace runwarden::store
