// Stores people's reviews of failures, and of runs in which nothing was found.
//
// Called from a pool thread; the answer comes once, on that thread or the writer's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "ingest/ingest_answer.h"
#include "ingest/judge.h"
#include "ingest/redaction.h"
#include "model/review.h"
#include "store/review_store.h"
#include "store/run_store.h"
#include "store/write_queue.h"

namespace runwarden::ingest {

// The contents of a body: {"verdict", "note"} for a failure, {"detector", "verdict", "note"} for a run. validation_failed lists every
// fault.
struct ReviewRequest {
  std::string detector;
  model::ReviewVerdict verdict = model::ReviewVerdict::none;
  std::string note;
};
enum class Reviewed : std::uint8_t { failure, run };
Result<ReviewRequest> read_review(std::string_view body, Reviewed of, int max_json_depth);

class ReviewIngest {
 public:
  using OnReview = std::function<void(const model::Review&)>;  // once per stored review; on the writer's thread

  struct Parts {
    store::RunStore& store;
    store::ReviewStore& reviews;
    store::WriteQueue& queue;
    const Clock& clock;
    const Redaction& redaction;
    Detectors detectors;
    OnReview on_review;
  };
  struct Stored {
    std::optional<model::RecordKey> replayed = {};  // the request was answered before: the first review that it stored then
  };
  // Nothing: the outcome is in doubt, so there is no answer; the client's connection is closed without one.
  using Done = std::function<void(std::optional<Result<Stored>> stored)>;

  explicit ReviewIngest(Parts parts) : parts_(std::move(parts)) {}

  void review_failure(IngestRequest request, const std::string& failure_id, Done done);
  void review_run(IngestRequest request, const std::string& run_id, Done done);
  // Takes back the review; also ok if there was none. A model's review that a person's had replaced counts again.
  void take_back_failure(IngestRequest request, const std::string& failure_id, Done done);
  // Takes back the review of that detector; empty: of all detectors.
  void take_back_run(IngestRequest request, const std::string& run_id, const std::string& detector, Done done);

 private:
  model::Review begun(const IngestRequest& request);
  // What is stored to take back a review: `withdrawn`, which is about its subject, and a copy of the model's review behind it, if any.
  std::vector<model::Review> withdrawal(const IngestRequest& request, model::Review withdrawn);
  // bad_request if no detector of that key judged the run or is configured.
  Status check_detector(const IngestRequest& request, const std::string& run_id, const std::string& detector);
  void write(IngestRequest request, std::vector<model::Review> reviews, Done done);

  Parts parts_;
};

}  // namespace runwarden::ingest
