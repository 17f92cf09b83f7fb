// Reviews for the store's tests.
#pragma once

#include <map>
#include <string>

#include "store/store.h"
#include "unit/store/sample_records.h"

namespace runwarden::store {

inline model::FailureRecord failure_with(const model::RecordKey& key, const std::string& fingerprint, const std::string& summary,
                                         const std::string& detector = "false_success") {
  model::FailureRecord record = sample_failure(key, detector, 90, fingerprint);
  record.json = R"({"failureId":")" + record.id + R"(","title":"title of )" + fingerprint + R"(","summary":")" + summary +
                R"(","estimatedWasteUsd":0.25})";
  return record;
}

inline model::Review review_of(const model::RecordKey& key, const model::FailureRecord& failure, model::ReviewVerdict verdict,
                               const std::string& note = "") {
  model::Review review;
  review.key = key;
  review.run = failure.run;
  review.run_id = "a run";
  review.failure_id = failure.id;
  if (!failure.shadow) review.cluster_id = model::cluster_id(model::cluster_key(failure.fingerprint));
  review.detector_key = failure.detector_key;
  review.detector_version = "1.0";
  review.settings_hash = "abc";
  review.verdict = verdict;
  review.author = "ann";
  review.document = model::write_document(review, note);
  return review;
}

inline model::Review review_of_run(const model::RecordKey& key, const model::RecordKey& run, const std::string& detector,
                                   model::ReviewVerdict verdict) {
  model::Review review;
  review.key = key;
  review.run = run;
  review.run_id = "a run";
  review.detector_key = detector;
  review.detector_version = "1.0";
  review.settings_hash = "abc";
  review.verdict = verdict;
  review.author = "ann";
  review.document = model::write_document(review, "");
  return review;
}

inline std::map<std::string, model::ReviewCounts> told_counts(Store& store, model::TenantId tenant) {
  std::map<std::string, model::ReviewCounts> counts;
  for (const ReviewedVersion& one : store.reviews().review_counts(tenant, 0)) counts[one.detector_key] += one.counts;
  return counts;
}

}  // namespace runwarden::store
