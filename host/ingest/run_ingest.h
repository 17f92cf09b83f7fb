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
#include "ingest/ingest_answer.h"
#include "ingest/judge.h"
#include "ingest/redaction.h"
#include "ingest/turnstile.h"
#include "intake/run_reader.h"
#include "store/event_buffer.h"
#include "store/run_store.h"
#include "store/write_queue.h"

namespace runwarden::ingest {

class RunIngest {
 public:
  struct Steps {
    store::RunStore& store;
    store::EventBuffer& buffer;
    store::WriteQueue& queue;
    WorkPool& pool;
    const Clock& clock;
    Turnstile& turnstile;  // shared by all that writes runs
    Judge& judge;
    const Redaction& redaction;
  };

  explicit RunIngest(Steps steps);

  void take(std::size_t worker, IngestRequest request, IngestDone done);

  // take() in its steps, for who has several runs and cares which of two with the same runId comes first:
  struct Job;
  using Place = std::shared_ptr<Job>;
  // Reads the run. Null: it was refused, and `done` has been told.
  Place read(IngestRequest request, IngestDone done);
  // Behind all that lined up before with the same runId or Idempotency-Key. False: it goes on by itself when it is its turn.
  bool line_up(const Place& place);
  // False: this thread has been abandoned and must return from its task (WorkPool::run_with_deadline).
  bool go_on(std::size_t worker, const Place& place);

 private:
  std::optional<IngestAnswer> answered_before(Job& job);
  std::optional<model::RunRecord> revision_of(const Job& job, const model::RunRecord& current) const;
  std::optional<IngestAnswer> end_open_run(Job& job, const model::RunRecord& open);
  bool judge(std::size_t worker, const std::shared_ptr<Job>& job);
  void keep(const std::shared_ptr<Job>& job, store::RunWrite write);

  Steps steps_;
};

}  // namespace runwarden::ingest
