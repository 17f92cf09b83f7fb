// Reviews of failures and runs: the read interface of a store. Any thread. Throws StoreError.
//
// A failure from a store has the verdict and the JSON of its last review (FailureRecord::reviewed, ::review). A failure whose last review
// says false_alarm is in every list, but in no count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/review.h"
#include "store/errors.h"
#include "store/queries.h"

namespace runwarden::store {

// The verdicts on subjects that one version of a detector, with one text of settings, has judged.
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

  // The last review of each subject, of the run and of what was found in it, unless it was taken back.
  virtual std::vector<model::Review> reviews_of_run(model::TenantId tenant, const model::RecordKey& run) = 0;
  // The same for each of these runs, in their order, read at once. Reviews that cannot be read are reported and left out, and may take the
  // others of their run with them.
  virtual std::vector<std::vector<model::Review>> reviews_of_runs(model::TenantId tenant, std::span<const model::RecordKey> runs) = 0;
  // All reviews of the run, or of one of its failures, newest first, including those taken back.
  virtual std::vector<model::Review> review_history(model::TenantId tenant, const model::RecordKey& run, const std::string& failure_id,
                                                    const Range& range) = 0;
  // By the last review of each subject, from the day of `since_ms` on. Counted when reviews are stored, so it reads days of detectors, not
  // reviews.
  virtual std::vector<ReviewedVersion> review_counts(model::TenantId tenant, std::int64_t since_ms) = 0;
  // Reviewed runs, even if all their reviews were taken back, in order of key, starting after `after`; at most `most`.
  virtual std::vector<ReviewedRun> reviewed_runs(model::TenantId tenant, const std::optional<model::RecordKey>& after,
                                                 std::size_t most) = 0;
};

}  // namespace runwarden::store
