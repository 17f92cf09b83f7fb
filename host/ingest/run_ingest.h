// Takes one run from its bytes to its answer: reads it, has it judged, stores it, and answers after the commit that contains it.
//
// take() is called from a pool thread; the answer comes once, on a pool thread or the writer's.
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
#include "ingest/keyed_queue.h"
#include "intake/run_reader.h"
#include "store/event_buffer.h"
#include "store/run_store.h"
#include "store/write_queue.h"

namespace runwarden::ingest {

class RunIngest {
 public:
  struct Parts {
    store::RunStore& store;
    store::EventBuffer& buffer;
    store::WriteQueue& queue;
    WorkPool& pool;
    const Clock& clock;
    KeyedQueue& keyed_queue;  // shared by everything that writes runs
    Judge& judge;
    const Redaction& redaction;
  };

  explicit RunIngest(const Parts& parts);

  void take(std::size_t worker, IngestRequest request, IngestDone done);

  // The steps of take(), for a caller with several runs that must keep the order of runs with the same runId:
  struct Job;
  using PendingRun = std::shared_ptr<Job>;
  // Reads the run. Null: it was refused, and `done` has been called.
  PendingRun read(IngestRequest request, IngestDone done);
  // Queues behind earlier runs with the same runId or Idempotency-Key. True: call resume(). False: the queue calls it later, on a pool
  // thread.
  bool enqueue(const PendingRun& pending);
  // Returns false if this thread has been abandoned and must return from its task (WorkPool::run_with_deadline). If the store is not ready
  // to answer, another pool thread continues later. A store that cannot be reached is answered to the client; other exceptions are thrown.
  bool resume(std::size_t worker, const PendingRun& pending);

 private:
  void in_own_task(const PendingRun& job, const std::function<void()>& work);
  static bool unless_away(const PendingRun& job, const std::function<bool()>& work);
  bool look_up(std::size_t worker, const PendingRun& job);
  bool proceed(std::size_t worker, const PendingRun& job, store::LookedUp known);
  std::optional<IngestAnswer> answered_before(Job& job, const store::LookedUp& known);
  std::optional<model::RunRecord> revision_of(const Job& job, const model::RunRecord& current) const;
  std::optional<IngestAnswer> end_open_run(Job& job, const model::RunRecord& open);
  void remember(const std::shared_ptr<Job>& job);
  bool judge(std::size_t worker, const std::shared_ptr<Job>& job);
  void commit(const std::shared_ptr<Job>& job, store::RunWrite write);

  Parts parts_;
};

}  // namespace runwarden::ingest
