// Stores streamed events durably in the buffer of their run, and ends the run when the request says so.
//
// take() is called from a pool thread; the answer comes once, on a pool thread or the writer's. Requests for one run keep their order of
// arrival.
//
// A request that ends a run which another host is ending waits for that host's result: poke(), called every few hundred milliseconds from
// any thread, looks for it on the pool. No thread waits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/fair_budget.h"
#include "base/mutex.h"
#include "base/work_pool.h"
#include "ingest/ingest_answer.h"
#include "ingest/keyed_queue.h"
#include "ingest/redaction.h"
#include "ingest/run_resolver.h"
#include "intake/event_reader.h"
#include "store/event_buffer.h"
#include "store/run_store.h"
#include "store/write_queue.h"

namespace runwarden::ingest {

class EventIngest {
 public:
  struct Parts {
    store::RunStore& store;
    store::EventBuffer& buffer;
    store::WriteQueue& queue;
    WorkPool& pool;
    const Clock& clock;
    KeyedQueue& keyed_queue;
    RunResolver& resolver;
    const Redaction& redaction;
    FairBudget& reads;  // budget for answers that show a whole run, held until clients have read them
    intake::EventLimits limits;
    std::uint32_t max_events = 10'000;  // per revision
    std::uint64_t max_open_runs = 1'000'000;
  };

  explicit EventIngest(const Parts& parts);

  void take(std::size_t worker, IngestRequest request, IngestDone done);

  void poke();
  // Answers what waits for other hosts, now and from now on: its events are stored.
  void stop();

 private:
  struct Job;
  void enter(std::size_t worker, std::shared_ptr<Job> job);
  std::optional<IngestAnswer> answered_before(const std::shared_ptr<Job>& job, std::size_t worker);
  void buffer(const std::shared_ptr<Job>& job);
  void answer(const std::shared_ptr<Job>& job, const store::Buffered& buffered);
  void end(std::size_t worker, const std::shared_ptr<Job>& job, const store::Buffered& buffered);
  void look_again_later(const std::shared_ptr<Job>& job, const store::Buffered& buffered);
  bool completes_another(const Job& job, const store::Buffered& buffered, std::uint32_t upto) const;
  bool is_to_end(const Job& job, const store::Buffered& buffered, const model::RunRecord& run) const;
  IngestAnswer open_answer(const Job& job, const store::Buffered& buffered) const;
  IngestAnswer as_ended(const Job& job, const store::Buffered& buffered) const;
  // Nothing while it is being ended.
  std::optional<IngestAnswer> as_ended_by_another(const Job& job, const store::Buffered& buffered) const;
  // The run in that revision, or as it is now: whole for a key that may read, else what was found.
  IngestAnswer as_it_stands(const Job& job, std::optional<std::uint32_t> revision = std::nullopt) const;

  struct Waiting {
    std::shared_ptr<Job> job;
    store::Buffered buffered;
  };

  Parts parts_;
  Mutex mutex_;
  std::vector<Waiting> waiting_ RW_GUARDED_BY(mutex_);  // for other hosts
  bool stopping_ RW_GUARDED_BY(mutex_) = false;
};

}  // namespace runwarden::ingest
