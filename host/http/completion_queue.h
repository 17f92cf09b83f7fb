// Returns answers to the worker that owns the connection.
//
// post(), wake() and close(): any thread. The rest: the worker only. Has no limit of its own: there is at most one completion for each
// request in flight, which the application bounds.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "http/reply.h"
#include "http/responder.h"
#include "http/unique_fd.h"

namespace runwarden::http {

struct Completion {
  enum class Kind : std::uint8_t { answer, read_more, hang_up, unanswered } kind = Kind::answer;
  std::uint64_t connection = 0;
  std::uint64_t request = 0;
  Reply reply;
};

class CompletionQueue {
 public:
  CompletionQueue();

  int event_fd() const { return event_.get(); }
  void post(Completion completion);
  // Wakes the worker without a completion. [any]
  void wake();

  // The completions posted so far. Call again until it returns none.
  std::vector<Completion> collect();
  // Drops all further completions. [any]
  void close();

  // Marks this thread as the owner during its lifetime: its own posts then need neither lock nor wake-up.
  class OwnerScope {
   public:
    explicit OwnerScope(CompletionQueue& queue);
    ~OwnerScope();
    OwnerScope(const OwnerScope&) = delete;
    OwnerScope& operator=(const OwnerScope&) = delete;
  };

 private:
  UniqueFd event_;
  Mutex mutex_;
  std::vector<Completion> posted_ RW_GUARDED_BY(mutex_);
  bool woken_ RW_GUARDED_BY(mutex_) = false;  // the eventfd is written and not yet read
  bool closed_ RW_GUARDED_BY(mutex_) = false;
  std::vector<Completion> own_posted_;  // worker
};

class Responder::Route {
 public:
  Route(std::shared_ptr<CompletionQueue> queue, std::uint64_t connection, std::uint64_t request)
      : queue_(std::move(queue)), connection_(connection), request_(request) {}
  ~Route();
  Route(const Route&) = delete;
  Route& operator=(const Route&) = delete;

  void post(Completion::Kind kind, Reply reply);

 private:
  std::shared_ptr<CompletionQueue> queue_;
  std::uint64_t connection_;
  std::uint64_t request_;
  std::atomic<bool> used_{false};
};

}  // namespace runwarden::http
