#include "store/page_filling.h"

namespace runwarden::store {
namespace {

constexpr std::uint64_t kLargestOutlineBytes = 96 * 1024;  // for a record without an outline, which is read whole to make one
constexpr std::uint64_t kLongestEscape = 6;                // for a byte in a JSON string

}  // namespace

std::uint64_t outline_bytes(const model::RunRecord& head) {
  if (!head.outline) return kLargestOutlineBytes;
  const model::RunOutline& outline = *head.outline;
  return kOwnRunBytes + head.run_id.size() * kLongestEscape + outline.members.size() + outline.last_output.size() +
         outline.failures.size() + outline.detectors.size() + outline.policies.size();
}

bool fits(const RunQuery& query, const model::RunRecord& run) {
  if (query.state && run.state != *query.state) return false;
  if (query.min_score && (run.fired.empty() || run.max_score < *query.min_score)) return false;
  if (query.source && run.source != *query.source) return false;
  return query.detector.empty() || std::find(run.fired.begin(), run.fired.end(), query.detector) != run.fired.end();
}

bool asks_for_one_failure(const RunQuery& query, const model::RunRecord& run) {
  return query.min_score && !query.detector.empty() && run.fired.size() > 1;
}

bool fits(const FailureQuery& query, const model::FailureRecord& failure) {
  if (query.severity && failure.severity != *query.severity) return false;
  if (failure.score < query.min_score) return false;
  if (!query.detector.empty() && failure.detector_key != query.detector) return false;
  if (query.reviewed && failure.reviewed != *query.reviewed) return false;
  return query.fingerprint.empty() || failure.fingerprint == query.fingerprint;
}

bool fits(const CandidateQuery& query, const model::Opinion& opinion) {
  if (opinion.of_alarm || (query.state && opinion.state != *query.state)) return false;
  return query.detector.empty() || opinion.detector_key == query.detector;
}

}  // namespace runwarden::store
