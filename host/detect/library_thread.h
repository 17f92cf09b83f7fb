// Runs the code of detector libraries that belongs to no run (the constructors of a library, create and destroy) on a thread of its own, so
// that the service obeys signals whatever a library does. Jobs run in the order in which they were posted. A job that stays inside one call
// for too long is given up together with its thread, and another thread continues with the next job.
//
// Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "detect/detector_set.h"

namespace runwarden::detect {

class LibraryThread {
 public:
  static constexpr std::int64_t kNoticeMs = 5'000;   // inside one call for this long: it is logged
  static constexpr std::int64_t kGiveUpMs = 60'000;  // and for this long: given up

  struct Job {
    std::function<void()> run;
    std::function<void(const std::string& why)> given_up = {};  // in its place, while run() may be going on; empty: only logged
  };

  // `clock` outlives it.
  LibraryThread(const Clock& clock, LogSink log);
  ~LibraryThread();  // not after finish() has returned false
  LibraryThread(const LibraryThread&) = delete;
  LibraryThread& operator=(const LibraryThread&) = delete;

  // After finish(), the job runs on the thread that posts it.
  void post(Job job);
  // Logs, or gives up, a job that has stayed inside one call for too long. Call it regularly.
  void look();
  // Ends the thread once all jobs are done. False: after `timeout_ms` some were not, or one was given up before. What they use must then
  // stay alive, so the process must end at once.
  bool finish(std::int64_t timeout_ms);

 private:
  class Runner;
  struct State;
  struct Late {
    bool lost;  // given up
    std::string text;
    std::function<void(const std::string&)> on_given_up;
  };
  void start() RW_REQUIRES(mutex_);
  std::optional<Late> take_late() RW_REQUIRES(mutex_);

  const std::shared_ptr<State> state_;  // shared with the threads: one that was given up may outlive this
  Mutex mutex_;
  std::thread thread_ RW_GUARDED_BY(mutex_);
};

}  // namespace runwarden::detect
