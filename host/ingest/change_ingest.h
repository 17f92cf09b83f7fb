// Stores change records and policy revisions.
//
// take_*() are called from a pool thread; the answer comes once, on a pool thread or the writer's.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/work_pool.h"
#include "ingest/ingest_answer.h"
#include "ingest/redaction.h"
#include "ingest/keyed_queue.h"
#include "store/run_store.h"
#include "store/write_queue.h"

namespace runwarden::ingest {

class ChangeIngest {
 public:
  struct Parts {
    store::RunStore& store;
    store::WriteQueue& queue;
    WorkPool& pool;
    const Clock& clock;
    KeyedQueue& keyed_queue;
    const Redaction& redaction;
  };

  explicit ChangeIngest(const Parts& parts);

  void take_change(IngestRequest request, IngestDone done);
  void take_policy(IngestRequest request, IngestDone done);

 private:
  struct Job;
  void enter(const std::shared_ptr<Job>& job);
  void submit(const std::shared_ptr<Job>& job);
  void answer_conflict(const std::shared_ptr<Job>& job, const model::PolicyRecord& known);
  std::shared_ptr<Job> job_of(IngestRequest request, IngestDone done);

  Parts parts_;
};

}  // namespace runwarden::ingest
