// Asks a model for second opinions. Its own thread claims questions in the store, sends requests, reads the answers, and has the writer
// store the results.
//
// Nothing waits for it. A question stays in the store until its answer is stored. If the process dies, the question is asked again when the
// claim's lease has ended. While the endpoint fails, all questions wait except one at a time that tries it.
// claim's lease is over. While the endpoint fails all questions wait, and one at a time tries it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log_function.h"
#include "model/opinion_prompt.h"
#include "model/review.h"
#include "opinion/budget.h"
#include "opinion/endpoint.h"
#include "store/opinion_store.h"
#include "store/review_store.h"
#include "store/run_store.h"
#include "store/write_queue.h"

namespace runwarden::opinion {

constexpr std::int64_t kLeaseBeyondTimeoutMs = 5'000;

// Settings that can change while it runs.
struct WorkerSettings {
  std::string api_key;  // empty: none is sent
  std::size_t max_in_flight = 4;
  std::size_t max_input_tokens = 8'000;
  bool may_confirm = true;
  bool may_silence = false;
  BudgetLimits budget;
};

struct WorkerState {
  store::OpinionQueue queue;
  std::int64_t oldest_ms = 0;  // age of the oldest waiting question
  std::string failing;         // why the endpoint fails, a short code; empty: no known failure
};

class Worker {
 public:
  struct Parts {
    store::OpinionStore& opinions;
    store::RunStore& records;
    store::ReviewStore& reviews;
    store::WriteQueue& queue;
    const Clock& clock;
    const model::OpinionPrompts& prompts;
    // Called on threads that they must not block.
    std::function<void()> on_asked;
    std::function<void(std::string_view verdict)> on_answer;  // present, absent or unclear, once it is stored
    std::function<void(std::string_view reason)> on_failure;  // of an attempt: a short code, one of few
    std::function<void(std::uint64_t prompt, std::uint64_t completion)> on_tokens;
    std::function<void(const model::Review& review)> on_review;  // that was stored
    LogFunction log;
    std::function<void(std::string& reason)> redact = {};  // applied to the reason that a model gives, before it is stored
  };

  // Starts asking. Throws std::runtime_error if libcurl cannot be set up. Everything in `parts` must outlive the writer's drain.
  Worker(Parts parts, ModelEndpoint endpoint, WorkerSettings settings);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Ends the thread; requests in flight are asked again after their lease. Call before the queue is drained.
  void stop();

  // Any thread. Applies to later questions.
  void change(WorkerSettings settings);
  WorkerState state() const;

 private:
  class Work;
  std::shared_ptr<Work> work_;
};

}  // namespace runwarden::opinion
