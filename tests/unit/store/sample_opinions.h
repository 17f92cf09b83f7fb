// Second opinions for the store's tests.
#pragma once

#include <string>
#include <utility>

#include "unit/store/sample_reviews.h"

namespace runwarden::store {

inline model::Opinion candidate_of(const model::RunRecord& run, const model::RecordKey& key, const std::string& detector) {
  model::Opinion opinion;
  opinion.key = key;
  opinion.id = model::make_candidate_id(key);
  opinion.run = run.key;
  opinion.run_id = run.run_id;
  opinion.revision = run.revision;
  opinion.detector_key = detector;
  opinion.detector_version = "1.0";
  opinion.settings_hash = "abc";
  opinion.rule = "far_claim";
  opinion.reason = "a reason";
  opinion.primary_step_id = "step-1";
  opinion.confidence = 0.5;
  opinion.due_ms = key.time_ms;
  return opinion;
}

inline OpinionWrite settled(model::TenantId tenant, model::Opinion opinion, model::OpinionState state) {
  opinion.state = state;
  opinion.review = R"({"said":"so"})";
  return {tenant, std::move(opinion), std::nullopt, {}};
}

// As a candidate that is confirmed becomes a failure of its own.
inline OpinionWrite confirming(model::TenantId tenant, const model::Opinion& opinion, const model::RecordKey& failure_key, const model::RecordKey& review_key) {
  OpinionWrite write = settled(tenant, opinion, model::OpinionState::confirmed);
  write.failure = failure_with({opinion.key.time_ms, failure_key.seq}, "f:" + opinion.detector_key, "a summary", opinion.detector_key);
  write.failure->run = opinion.run;
  write.opinion.failure_id = write.failure->id;
  write.reviews = {review_of(review_key, *write.failure, model::ReviewVerdict::right)};
  write.reviews.front().author = "model:m";
  return write;
}

}  // namespace runwarden::store
