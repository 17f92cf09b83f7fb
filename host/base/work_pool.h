// A pool of threads. Tasks of one flow (a tenant) start in the order in which they were posted; flows take turns. The queue has no limit
// of its own: callers bound what they post (FairBudget).
//
// While several flows post, a worker offers its processor to others after each task of a flow that has more waiting (sched_yield): some
// schedulers make a waking thread, such as the one that commits or a kernel thread that completes a write, wait for the next tick.
//
// post() may be called from any thread. After finish() it drops the task. If a task throws, on_fault receives the text and the other
// tasks are not affected.
//
// With more threads than work at once, those that wait for another process, such as a database, leave their place to others for that time
// (BlockingScope). Fewer at work than that would leave processors idle; more would only switch between each other.
//
// Code that may never return runs inside run_with_deadline(). At the deadline the pool abandons the thread that is inside the call, gives
// its worker number to another thread, and queues the continuation of the task. So each worker number always belongs to exactly one
// thread, and the number of working threads stays constant. The pool abandons at most kMaxAbandoned threads at a time; beyond that, late
// calls keep their threads until they return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace runwarden {

class WorkPool {
 public:
  using Task = std::function<void(std::size_t worker)>;  // worker: 0 to threads() - 1
  static constexpr std::size_t kMaxAbandoned = 256;
  static constexpr std::int64_t kNoTimeoutMs = -1;
  static constexpr std::int64_t kSharedNs = 1'000'000'000;  // the pool counts as shared for this long after another flow's task

  struct Size {
    Size(std::size_t all) : threads(all), at_once(all) {}  // implicit: most pools need no more than a number
    Size(std::size_t all, std::size_t working) : threads(all), at_once(working) {}
    std::size_t threads;
    std::size_t at_once;  // how many of them work at a time
  };

  // `offer_processor` is called by workers, without a lock.
  WorkPool(Size size, std::function<void(const std::string&)> on_fault, void (*offer_processor)() = &yield_processor);
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  static constexpr std::uint64_t kOwnFlow = ~std::uint64_t{0};  // for the service's own tasks
  void post(Task task, std::uint64_t flow = kOwnFlow);

  // While one exists on a pool's thread, outside run_with_deadline(), another thread may work in its place. Elsewhere it does nothing.
  class BlockingScope {
   public:
    BlockingScope();
    ~BlockingScope();
    BlockingScope(const BlockingScope&) = delete;
    BlockingScope& operator=(const BlockingScope&) = delete;
  };

  // A part of a task that may never return.
  class DeadlineTask {
   public:
    virtual ~DeadlineTask() = default;
    virtual void call() = 0;
    // The task that replaces the rest of the abandoned one. Another thread calls this while call() is still running and while it holds
    // the pool's lock: it must not use the pool.
    virtual Task continuation() = 0;
  };
  // [in a task of this pool, with its own number] Runs task.call() on this thread. True: it returned in time. False: it did not return by
  // `due_ns` (CLOCK_MONOTONIC, checked every few milliseconds) and this thread has been abandoned. The caller must then return from its
  // task at once and must not touch anything that the continuation may use, above all its worker number.
  bool run_with_deadline(std::size_t worker, std::int64_t due_ns, DeadlineTask& task);
  // [in a task of this pool, with its own number] Sets a second task to post if this thread is abandoned. Cleared when the current task
  // ends.
  void on_abandoned(std::size_t worker, Task rest);

  // Runs the queued tasks, then ends the threads. post() remains safe to call and does nothing. After `timeout_ms`, drops the tasks
  // that are still queued and abandons the threads that are inside run_with_deadline(). [main]
  void finish(std::int64_t timeout_ms = kNoTimeoutMs);
  std::size_t threads() const { return threads_; }
  std::size_t waiting() const;
  // The number of abandoned threads whose call has not returned. While it is above 0 after finish(), whatever those calls use must stay
  // alive.
  std::size_t abandoned() const;

 private:
  static void yield_processor();

  struct State;
  std::size_t threads_;
  std::shared_ptr<State> state_;  // shared with the threads: an abandoned one may outlive the pool
};

}  // namespace runwarden
