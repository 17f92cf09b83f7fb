// Takes what people say of failures, and of what was not found in runs, into the store.
//
// Called from a pool thread; the answer comes once, from that thread or from the writer's.
#pragma once

#include <functional>
#include <optional>
#include <string>

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

// What a body asks for: {"verdict", "note"} of a failure, {"detector", "verdict", "note"} of a run. validation_failed lists every fault.
struct ReviewRequest {
  std::string detector;
  model::ReviewVerdict verdict = model::ReviewVerdict::none;
  std::string note;
};
enum class Reviewed : std::uint8_t { failure, run };
Result<ReviewRequest> read_review(std::string_view body, Reviewed of, int max_json_depth);

class ReviewIngest {
 public:
  using OnReview = std::function<void(const model::Review&)>;  // of each that was stored; the writer's thread

  struct Steps {
    store::RunStore& store;
    store::ReviewStore& reviews;
    store::WriteQueue& queue;
    const Clock& clock;
    const Redaction& redaction;
    Detectors detectors;
    OnReview on_review;
  };
  // ok: it is stored. Nothing: the outcome is in doubt, so there is no answer to give; the client's connection ends without one.
  using Done = std::function<void(std::optional<Status> stored)>;

  explicit ReviewIngest(Steps steps) : steps_(std::move(steps)) {}

  void review_failure(IngestRequest request, const std::string& failure_id, Done done);
  void review_run(IngestRequest request, const std::string& run_id, Done done);
  // Takes back what was said; ok also where nothing was.
  void take_back_failure(IngestRequest request, const std::string& failure_id, Done done);
  // Of that detector; empty: of all.
  void take_back_run(IngestRequest request, const std::string& run_id, const std::string& detector, Done done);

 private:
  model::Review begun(const IngestRequest& request);
  void write(IngestRequest request, std::vector<model::Review> reviews, Done done);

  Steps steps_;
};

}  // namespace runwarden::ingest
