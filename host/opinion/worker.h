// Asks a model what waits for its second opinion: one thread of its own that claims questions in the store, makes requests, reads the
// answers, and has the writer store what they make.
//
// Nobody waits for it. A question stays in the store until an answer to it is stored there: a process that dies before asks again once the
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
#include "store/run_store.h"
#include "store/write_queue.h"

namespace runwarden::opinion {

constexpr std::int64_t kLeaseBeyondTimeoutMs = 5'000;

// What can be changed while it works.
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
  std::int64_t oldest_ms = 0;  // age of the oldest question that waits
  std::string failing;         // why the endpoint fails, a short code; empty: it does not, as far as is known
};

class Worker {
 public:
  struct Parts {
    store::OpinionStore& opinions;
    store::RunStore& records;
    store::WriteQueue& queue;
    const Clock& clock;
    const model::OpinionPrompts& prompts;
    // All on threads that they must not hold up.
    std::function<void()> on_asked;
    std::function<void(std::string_view verdict)> on_answer;  // present, absent or unclear, once it is stored
    std::function<void(std::string_view reason)> on_failure;  // of an attempt: a short code, one of few
    std::function<void(std::uint64_t prompt, std::uint64_t completion)> on_tokens;
    std::function<void(const model::Review& review)> on_review;  // that was stored
    LogFunction log;
  };

  // Begins to ask. Throws std::runtime_error where libcurl cannot be set up. What is in `parts` has to outlive the writer's drain.
  Worker(Parts parts, Endpoint endpoint, WorkerSettings settings);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Ends the thread; what is on its way is asked again after its lease. Before the queue is drained.
  void stop();

  // Any thread. Questions from then on are asked by these.
  void change(WorkerSettings settings);
  WorkerState state() const;

 private:
  class Work;
  std::shared_ptr<Work> work_;
};

}  // namespace runwarden::opinion
