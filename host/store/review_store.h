// Reviews of failures and runs: what is asked of a store. Any thread. Throws StoreError.
//
// A failure that a store gives has the verdict of its last review and that review's JSON (FailureRecord::reviewed, ::review). One whose
// last review says false_alarm is in no count of the store, but in every list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/review.h"
#include "store/errors.h"
#include "store/queries.h"

namespace runwarden::store {

// How many subjects were reviewed that one version of a detector judged, with one text of settings.
struct ReviewedVersion {
  std::string detector_key;
  std::string detector_version;  // empty: not known
  std::string settings_hash;     // likewise
  model::ReviewCounts counts;
};

struct ReviewedRun {
  model::RecordKey run;
  std::vector<model::Review> reviews;  // as reviews_of_run() gives them
};

class ReviewStore {
 public:
  virtual ~ReviewStore() = default;

  // Of the run, and of what was found in it, the last review of each subject that was not taken back.
  virtual std::vector<model::Review> reviews_of_run(model::TenantId tenant, const model::RecordKey& run) = 0;
  // All that was said of the run, or of one of its failures, newest first, what was taken back included.
  virtual std::vector<model::Review> review_history(model::TenantId tenant, const model::RecordKey& run, const std::string& failure_id,
                                                    const Range& range) = 0;
  // By the last review of each subject, of the days from that one on. Counted when reviews are stored: days of detectors are read, not
  // reviews.
  virtual std::vector<ReviewedVersion> review_counts(model::TenantId tenant, std::int64_t since_ms) = 0;
  // Runs that were reviewed, also where all of it was taken back, in the order of their keys, behind `after`; at most that many.
  virtual std::vector<ReviewedRun> reviewed_runs(model::TenantId tenant, const std::optional<model::RecordKey>& after,
                                                 std::size_t most) = 0;
};

}  // namespace runwarden::store
