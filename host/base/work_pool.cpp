#include "base/work_pool.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <limits>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/fair_queue.h"
#include "base/mutex.h"
#include "base/recent_flows.h"

namespace runwarden {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(5);
constexpr std::size_t kNoNumber = std::numeric_limits<std::size_t>::max();

// Values of a worker's due_ns that are not times.
constexpr std::int64_t kNoDeadline = 0;
constexpr std::int64_t kAbandoned = -1;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

struct WorkPool::State {
  class Worker : public std::enable_shared_from_this<Worker> {
   public:
    struct Shared {
      std::size_t number = kNoNumber;  // a spare thread has none
      std::thread thread;
      bool abandoned = false, ended = false;
      bool working = false;                    // on a task, not counting a BlockingScope
      std::int64_t reported_ns = kNoDeadline;  // the due_ns already reported to on_fault
    };
    Shared& shared([[maybe_unused]] const State& pool) RW_REQUIRES(pool.mutex) { return shared_; }

    CondVar wake;                                               // it has work, or the pool stops
    bool of_a_backlog = false;                                  // its flow has more tasks waiting while other flows post too
    alignas(64) std::atomic<std::int64_t> due_ns{kNoDeadline};  // the thread that replaces a time in it owns the two members below
    DeadlineTask* deadline_task = nullptr;
    Task rest;

   private:
    Shared shared_;
  };

  State(Size size, std::function<void(const std::string&)> fault, void (*offer)())
      : on_fault(std::move(fault)), offer_processor(offer), at_once(size.at_once), at_work(size.threads) {}

  std::shared_ptr<Worker> start_thread(const std::shared_ptr<State>& self, std::size_t number) RW_REQUIRES(mutex);
  void work(Worker& me);
  std::optional<std::size_t> get_number(Worker& me);
  bool take_task(Worker& me, Task& task);
  bool has_work() const RW_REQUIRES(mutex) { return !tasks.empty() && working < at_once; }
  void set_working(Worker& worker, bool on) RW_REQUIRES(mutex);
  std::shared_ptr<Worker> to_wake() RW_REQUIRES(mutex);  // shared: it may end before it is woken, outside of the lock
  void wake_all() RW_REQUIRES(mutex);
  void do_task(Task& task, std::size_t number);
  void watch(const std::shared_ptr<State>& self);
  void abandon(const std::shared_ptr<State>& self, Worker& late, std::int64_t due_ns) RW_REQUIRES(mutex);
  bool has_spare(const std::shared_ptr<State>& self) RW_REQUIRES(mutex);
  void drop(Worker& late, std::int64_t due_ns) RW_REQUIRES(mutex);

  // Of a thread of a pool; null elsewhere.
  struct OfThread {
    State* pool = nullptr;
    Worker* worker = nullptr;
  };
  static thread_local OfThread this_thread;

  const std::function<void(const std::string&)> on_fault;
  void (*const offer_processor)();
  const std::size_t at_once;
  mutable Mutex mutex;
  CondVar watch_wake, changed;
  FairQueue<Task> tasks RW_GUARDED_BY(mutex);
  RecentFlows flows RW_GUARDED_BY(mutex);
  std::vector<std::shared_ptr<Worker>> at_work;  // by number; an entry changes only while its thread is inside run_with_deadline()
  std::shared_ptr<Worker> spare RW_GUARDED_BY(mutex);
  std::vector<std::string> faults RW_GUARDED_BY(mutex);  // to be reported without the lock
  std::vector<Task> dropped RW_GUARDED_BY(mutex);        // to be destroyed without the lock
  std::thread watcher;
  std::vector<Worker*> idle RW_GUARDED_BY(mutex);  // the last one to become idle last: its caches are the warmest
  std::size_t working RW_GUARDED_BY(mutex) = 0;
  std::size_t alive RW_GUARDED_BY(mutex) = 0;  // threads with a number that have not ended
  std::size_t abandoned RW_GUARDED_BY(mutex) = 0;
  bool watcher_sleeps RW_GUARDED_BY(mutex) = false;
  bool stopping RW_GUARDED_BY(mutex) = false;
  bool dropping RW_GUARDED_BY(mutex) = false;
  bool ended RW_GUARDED_BY(mutex) = false;
};

// Resets an inherited raised priority, which is meant for the threads that accept, commit and answer, so that a flood of pool work does
// not delay them. Leaves a lowered priority alone.
void reset_raised_priority() {
  const auto self = static_cast<id_t>(gettid());
  errno = 0;
  const int nice = getpriority(PRIO_PROCESS, self);
  if (errno == 0 && nice < 0) setpriority(PRIO_PROCESS, self, 0);
}

std::shared_ptr<WorkPool::State::Worker> WorkPool::State::start_thread(const std::shared_ptr<State>& self, std::size_t number) {
  auto worker = std::make_shared<Worker>();
  Worker::Shared& shared = worker->shared(*this);
  shared.number = number;
  shared.thread = std::thread([self, worker] { self->work(*worker); });
  return worker;
}

thread_local WorkPool::State::OfThread WorkPool::State::this_thread;

void WorkPool::State::work(Worker& me) {
  const auto number = get_number(me);
  if (!number) return;
  this_thread = {this, &me};
  for (Task task; take_task(me, task); task = nullptr) {
    do_task(task, *number);
    if (me.rest) me.rest = nullptr;
    if (me.of_a_backlog) offer_processor();
  }
}

// Waits until this thread gets a worker number, which it keeps. Nothing: the pool stopped first.
std::optional<std::size_t> WorkPool::State::get_number(Worker& me) {
  MutexLock lock(mutex);
  Worker::Shared& shared = me.shared(*this);
  changed.wait(lock, [&]() RW_REQUIRES(mutex) { return shared.number != kNoNumber || stopping; });
  shared.ended = shared.number == kNoNumber;
  if (shared.ended) return std::nullopt;
  pthread_setname_np(pthread_self(), ("work-" + std::to_string(shared.number)).c_str());
  reset_raised_priority();
  return shared.number;
}

bool WorkPool::State::take_task(Worker& me, Task& task) {
  MutexLock lock(mutex);
  Worker::Shared& shared = me.shared(*this);
  set_working(me, false);
  if (!shared.abandoned) {
    while (!stopping && !has_work()) {
      idle.push_back(&me);
      me.wake.wait(lock, [&]() RW_REQUIRES(mutex) { return stopping || std::find(idle.begin(), idle.end(), &me) == idle.end(); });
      set_working(me, false);  // its place, which was kept for it, is the one it takes
    }
  }
  if (shared.abandoned || tasks.empty()) {
    shared.ended = true;
    --(shared.abandoned ? abandoned : alive);
    changed.notify_all();
    return false;
  }
  const auto flow = tasks.turn();
  task = tasks.pop();
  set_working(me, true);
  me.of_a_backlog = flow && tasks.waiting(*flow) > 0 && flows.shared(now_ns(), kSharedNs);
  return true;
}

void WorkPool::State::set_working(Worker& worker, bool on) {
  bool& was = worker.shared(*this).working;
  if (was == on) return;
  was = on;
  on ? ++working : --working;
}

// The thread to wake for new work, if one is needed. Its place is kept for it, so that a burst of tasks wakes no more threads than work.
std::shared_ptr<WorkPool::State::Worker> WorkPool::State::to_wake() {
  if (idle.empty() || !has_work()) return nullptr;
  Worker* const last = idle.back();
  idle.pop_back();
  set_working(*last, true);
  return last->shared_from_this();
}

void WorkPool::State::wake_all() {
  for (Worker* const worker : std::exchange(idle, {})) worker->wake.notify_one();
}

void WorkPool::State::do_task(Task& task, std::size_t number) {
  try {
    task(number);
  } catch (const std::exception& fault) {
    on_fault(fault.what());
  } catch (...) {
    on_fault("an unknown exception");
  }
}

// Checks every few milliseconds for calls that are past their deadline. Sleeps while all workers are idle.
void WorkPool::State::watch(const std::shared_ptr<State>& self) {
  pthread_setname_np(pthread_self(), "work-watch");
  MutexLock lock(mutex);
  while (!ended) {
    watcher_sleeps = idle.size() == at_work.size() && tasks.empty() && !stopping;
    if (watcher_sleeps) {
      watch_wake.wait(lock, [this]() RW_REQUIRES(mutex) { return !watcher_sleeps || stopping; });
    } else {
      watch_wake.wait_for(lock, kLookEvery);
    }
    const std::int64_t now = now_ns();
    for (std::size_t i = 0; i < at_work.size(); ++i) {
      const std::shared_ptr<Worker> worker = at_work[i];
      const std::int64_t due_ns = worker->due_ns.load(std::memory_order_acquire);
      if (due_ns <= kNoDeadline || (due_ns > now && !dropping)) continue;
      dropping ? drop(*worker, due_ns) : abandon(self, *worker, due_ns);
    }
    if (faults.empty() && dropped.empty()) continue;
    const auto reports = std::exchange(faults, {});
    auto garbage = std::exchange(dropped, {});
    lock.unlock();
    garbage.clear();
    for (const std::string& fault : reports) on_fault(fault);
    lock.lock();
  }
}

void WorkPool::State::abandon(const std::shared_ptr<State>& self, Worker& late, std::int64_t due_ns) {
  Worker::Shared& shared = late.shared(*this);
  if (abandoned >= kMaxAbandoned || !has_spare(self)) {
    if (std::exchange(shared.reported_ns, due_ns) != due_ns) {
      faults.push_back("a call that has not returned blocks worker " + std::to_string(shared.number) + " of " +
                       std::to_string(at_work.size()) + ": " + std::to_string(abandoned) +
                       " threads are already abandoned, which is the limit. Restart the service.");
    }
    return;
  }
  if (!late.due_ns.compare_exchange_strong(due_ns, kAbandoned)) return;  // it returned just in time
  if (late.rest) tasks.push_urgent(std::move(late.rest));
  tasks.push_urgent(late.deadline_task->continuation());
  shared.abandoned = true;
  ++abandoned;
  set_working(late, false);
  pthread_setname_np(shared.thread.native_handle(), "abandoned");
  shared.thread.detach();
  spare->shared(*this).number = shared.number;
  at_work[shared.number] = std::move(spare);
  changed.notify_all();
  wake_all();
}

bool WorkPool::State::has_spare(const std::shared_ptr<State>& self) {
  try {
    if (spare && spare->shared(*this).ended) spare->shared(*this).thread.join();
    if (!spare || spare->shared(*this).ended) spare = start_thread(self, kNoNumber);
    return true;
  } catch (const std::system_error&) {
    return false;  // the process cannot create a thread now
  }
}

// The pool is shutting down: drops the continuation.
void WorkPool::State::drop(Worker& late, std::int64_t due_ns) {
  if (!late.due_ns.compare_exchange_strong(due_ns, kAbandoned)) return;
  Worker::Shared& shared = late.shared(*this);
  if (late.rest) dropped.push_back(std::move(late.rest));
  dropped.push_back(late.deadline_task->continuation());
  shared.abandoned = true;
  ++abandoned;
  --alive;
  shared.thread.detach();
  changed.notify_all();
}

WorkPool::WorkPool(Size size, std::function<void(const std::string&)> on_fault, void (*offer_processor)())
    : threads_(size.threads), state_(std::make_shared<State>(size, std::move(on_fault), offer_processor)) {
  const MutexLock lock(state_->mutex);
  for (std::size_t number = 0; number < threads_; ++number) state_->at_work[number] = state_->start_thread(state_, number);
  state_->alive = threads_;
  state_->watcher = std::thread([state = state_] { state->watch(state); });
}

void WorkPool::yield_processor() {
  ::sched_yield();
}

WorkPool::~WorkPool() {
  finish();
}

void WorkPool::finish(std::int64_t timeout_ms) {
  MutexLock lock(state_->mutex);
  if (state_->ended) return;
  state_->stopping = true;
  state_->wake_all();
  state_->watch_wake.notify_all();
  state_->changed.notify_all();
  const auto all_ended = [this]() RW_REQUIRES(state_->mutex) { return state_->alive == 0; };
  if (timeout_ms == kNoTimeoutMs) {
    state_->changed.wait(lock, all_ended);
  } else if (!state_->changed.wait_for(lock, std::chrono::milliseconds(timeout_ms), all_ended)) {
    state_->dropping = true;
    while (!state_->tasks.empty()) state_->dropped.push_back(state_->tasks.pop());  // the watcher destroys them
    state_->changed.wait(lock, all_ended);
  }
  state_->ended = true;
  state_->watch_wake.notify_all();
  std::vector<std::thread> threads;
  for (const auto& one : state_->at_work) threads.push_back(std::move(one->shared(*state_).thread));
  if (state_->spare) threads.push_back(std::move(state_->spare->shared(*state_).thread));
  auto dropped = std::exchange(state_->dropped, {});
  lock.unlock();
  state_->watcher.join();
  for (std::thread& one : threads) {
    if (one.joinable()) one.join();
  }
}

void WorkPool::post(Task task, std::uint64_t flow) {
  std::shared_ptr<State::Worker> wake;
  bool wake_watcher = false;
  {
    const MutexLock lock(state_->mutex);
    if (state_->ended || state_->dropping) return;
    state_->tasks.push(flow, std::move(task));
    if (flow != kOwnFlow) state_->flows.note(flow, now_ns());
    wake = state_->to_wake();
    wake_watcher = std::exchange(state_->watcher_sleeps, false);
  }
  if (wake != nullptr) wake->wake.notify_one();
  if (wake_watcher) state_->watch_wake.notify_one();
}

WorkPool::BlockingScope::BlockingScope() {
  const auto [pool, worker] = State::this_thread;
  if (pool == nullptr) return;
  std::shared_ptr<State::Worker> wake;
  {
    const MutexLock lock(pool->mutex);
    pool->set_working(*worker, false);
    wake = pool->to_wake();
  }
  if (wake != nullptr) wake->wake.notify_one();
}

WorkPool::BlockingScope::~BlockingScope() {
  const auto [pool, worker] = State::this_thread;
  if (pool == nullptr) return;
  const MutexLock lock(pool->mutex);
  pool->set_working(*worker, true);
}

bool WorkPool::run_with_deadline(std::size_t worker, std::int64_t due_ns, DeadlineTask& task) {
  State& state = *state_;  // shared with this thread, which may outlive the pool inside the call
  State::Worker& mine = *state.at_work[worker];
  const auto in_time = [&] {
    std::int64_t expected = due_ns;
    if (mine.due_ns.compare_exchange_strong(expected, kNoDeadline)) return true;
    const MutexLock until_handed_over(state.mutex);
    return false;
  };
  mine.deadline_task = &task;
  mine.due_ns.store(due_ns, std::memory_order_release);
  try {
    task.call();
  } catch (...) {
    if (in_time()) throw;
    return false;
  }
  return in_time();
}

void WorkPool::on_abandoned(std::size_t worker, Task rest) {
  state_->at_work[worker]->rest = std::move(rest);
}

std::size_t WorkPool::waiting() const {
  const MutexLock lock(state_->mutex);
  return state_->tasks.size();
}

std::size_t WorkPool::abandoned() const {
  const MutexLock lock(state_->mutex);
  return state_->abandoned;
}

}  // namespace runwarden
