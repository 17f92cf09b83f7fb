// Takes one run from its bytes to its answer: read, judged by the detectors, stored, answered after the commit that holds it.
//
// take() is called from a pool thread; the answer comes once, from a pool thread or from the writer's.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/work_pool.h"
#include "intake/run_reader.h"
#include "pipeline/ingest_answer.h"
#include "pipeline/judge.h"
#include "pipeline/turnstile.h"
#include "store/commit_queue.h"
#include "store/store.h"

namespace runwarden::pipeline {

class RunIngest {
 public:
  struct Steps {
    store::Store& store;
    store::CommitQueue& queue;
    WorkPool& pool;
    const Clock& clock;
    Turnstile& turnstile;  // shared by all that writes runs
    Judge& judge;
    intake::RunLimits limits;
  };

  explicit RunIngest(Steps steps);

  void take(std::size_t worker, IngestRequest request, IngestDone done);

 private:
  struct Job;
  void enter(std::size_t worker, std::shared_ptr<Job> job);
  std::optional<IngestAnswer> answered_before(Job& job);
  std::optional<model::RunRecord> revision_of(const Job& job, const model::RunRecord& current) const;
  std::optional<IngestAnswer> end_open_run(Job& job, const model::RunRecord& open);
  void judge(std::size_t worker, const std::shared_ptr<Job>& job);

  Steps steps_;
};

}  // namespace runwarden::pipeline
