// Takes one run from its bytes to its answer: read, judged by the detectors, stored, answered after the commit that holds it.
//
// take() is called from a pool thread; the answer comes once, from a pool thread or from the writer's.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/work_pool.h"
#include "detect/detector_set.h"
#include "intake/run_reader.h"
#include "pipeline/turnstile.h"
#include "store/commit_queue.h"
#include "store/store.h"

namespace runwarden::pipeline {

struct IngestRequest {
  model::TenantId tenant = 0;
  std::string tenant_name;
  std::string body;                          // decoded
  std::optional<model::Digest> idempotency;  // identity of the Idempotency-Key
};

struct IngestAnswer {
  enum class Kind : std::uint8_t { created, replayed, refused };
  Kind kind = Kind::refused;
  std::string run_id;
  std::string body;           // created, replayed: the JSON answer
  std::string failures_json;  // created, replayed
  Error error;                // refused
};

class RunIngest {
 public:
  using Done = std::function<void(IngestAnswer)>;
  using Detectors = std::function<std::shared_ptr<detect::DetectorSet>()>;  // those in force now
  using OnVerdict = std::function<void(const model::Verdict&)>;             // for the metrics; any pool thread

  struct Steps {
    store::Store& store;
    store::CommitQueue& queue;
    WorkPool& pool;
    const Clock& clock;
    Detectors detectors;
    OnVerdict on_verdict;
    intake::RunLimits limits;
  };

  explicit RunIngest(Steps steps);

  void take(std::size_t worker, IngestRequest request, Done done);

 private:
  struct Job;
  void enter(std::size_t worker, std::shared_ptr<Job> job);
  std::optional<IngestAnswer> answered_before(const Job& job);
  void judge(std::size_t worker, const std::shared_ptr<Job>& job);

  Steps steps_;
  Turnstile turnstile_;
};

// The judged run as a write: ids given, JSON encoded. Who stores it gives the rest.
store::RunWrite make_run_write(model::Run run, const model::Verdict& verdict, const model::RecordKey& key, store::Store& store);

}  // namespace runwarden::pipeline
