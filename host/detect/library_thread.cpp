#include "detect/library_thread.h"

#include <pthread.h>

#include <chrono>
#include <deque>
#include <utility>

#include "base/mutex.h"
#include "detect/crash_context.h"

namespace runwarden::detect {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

constexpr const char* kOutside = "the loading of detectors has not ended";

}  // namespace

struct LibraryThread::State {
  State(const Clock& the_clock, LogSink the_log) : clock(the_clock), log(std::move(the_log)) {}

  const Clock& clock;
  const LogSink log;
  Mutex mutex;
  CondVar changed;
  std::deque<Job> jobs RW_GUARDED_BY(mutex);
  std::shared_ptr<Runner> runner RW_GUARDED_BY(mutex);  // of the thread that takes the jobs
  std::size_t given_up RW_GUARDED_BY(mutex) = 0;        // jobs that have not returned
  bool finished RW_GUARDED_BY(mutex) = false;
};

// One thread's work. Its members are guarded by the state's mutex.
class LibraryThread::Runner final : public CodeObserver {
 public:
  explicit Runner(State& state) : state_(state) {}

  void run();
  void inside(const CrashContext* context) override {
    const MutexLock lock(state_.mutex);
    mark(context == nullptr ? std::string(kOutside) : without_end(*context));
  }

  bool busy = false;
  bool noticed = false;
  std::int64_t since_ns = 0;
  std::string what;
  std::function<void(const std::string&)> on_given_up;

 private:
  void mark(std::string now_inside) {
    what = std::move(now_inside);
    since_ns = state_.clock.monotonic_ns();
    noticed = false;
  }

  State& state_;
};

void LibraryThread::Runner::run() {
  observe_code(this);
  MutexLock lock(state_.mutex);
  for (;;) {
    state_.changed.wait(lock, [this]() RW_REQUIRES(state_.mutex) { return !state_.jobs.empty() || state_.finished; });
    if (state_.jobs.empty()) return;
    Job job = std::move(state_.jobs.front());
    state_.jobs.pop_front();
    on_given_up = std::move(job.given_up);
    busy = true;
    mark(kOutside);
    lock.unlock();
    job.run();
    lock.lock();
    job.given_up = std::move(on_given_up);  // empty if take_late() has taken it
    lock.unlock();
    job = {};  // without the mutex: what its closures own, such as a set of detectors, may post when it is destroyed
    lock.lock();
    busy = false;
    state_.changed.notify_all();
    if (state_.runner.get() == this) continue;
    --state_.given_up;
    return;
  }
}

LibraryThread::LibraryThread(const Clock& clock, LogSink log) : state_(std::make_shared<State>(clock, std::move(log))) {
  const MutexLock lock(mutex_);
  start();
}

void LibraryThread::start() {
  auto runner = std::make_shared<Runner>(*state_);
  {
    const MutexLock lock(state_->mutex);
    state_->runner = runner;
  }
  thread_ = std::thread([state = state_, runner] {
    pthread_setname_np(pthread_self(), "libraries");
    runner->run();
  });
}

LibraryThread::~LibraryThread() {
  const MutexLock lock(mutex_);
  {
    const MutexLock state_lock(state_->mutex);
    state_->finished = true;
  }
  state_->changed.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LibraryThread::post(Job job) {
  {
    const MutexLock lock(state_->mutex);
    if (!state_->finished) {
      state_->jobs.push_back(std::move(job));
      state_->changed.notify_all();
      return;
    }
  }
  job.run();
}

void LibraryThread::look() {
  const MutexLock lock(mutex_);
  const auto late = take_late();
  if (!late) return;
  if (!late->lost) return state_->log(LogLevel::warn, "waiting: " + late->text);
  const std::string why = late->text + ": it is given up. Correct or disable the detector.";
  thread_.detach();
  start();
  late->on_given_up ? late->on_given_up(why) : state_->log(LogLevel::error, why);
}

std::optional<LibraryThread::Late> LibraryThread::take_late() {
  const MutexLock lock(state_->mutex);
  const std::shared_ptr<Runner> runner = state_->runner;
  const std::int64_t ms = (state_->clock.monotonic_ns() - runner->since_ns) / kNsPerMs;
  const bool lost = ms >= kGiveUpMs;
  if (!runner->busy || ms < kNoticeMs || (runner->noticed && !lost)) return std::nullopt;
  runner->noticed = true;
  Late late{lost, runner->what + " for " + std::to_string(ms / 1000) + " s", {}};
  if (!lost) return late;
  late.on_given_up = std::move(runner->on_given_up);
  state_->runner = nullptr;  // until start(): it takes no job any more
  ++state_->given_up;
  return late;
}

bool LibraryThread::finish(std::int64_t timeout_ms) {
  const MutexLock lock(mutex_);
  State& state = *state_;
  MutexLock state_lock(state.mutex);
  const auto idle = [&state]() RW_REQUIRES(state.mutex) { return state.jobs.empty() && !state.runner->busy; };
  const bool done = state.changed.wait_for(state_lock, std::chrono::milliseconds(timeout_ms), idle);
  if (!done) state.log(LogLevel::error, "the process ends without it: " + state.runner->what);
  if (!done || state.given_up > 0) return false;
  state.finished = true;
  state.changed.notify_all();
  state_lock.unlock();
  thread_.join();
  return true;
}

}  // namespace runwarden::detect
