// The way answers come back to the worker that owns a connection.
//
// post() is called from any thread; the rest by the worker alone. Unbounded by itself: there is at most one letter for
// each request in flight, and those are bounded by the application's queue.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "http/server.h"
#include "http/unique_fd.h"

namespace runwarden::http {

struct Letter {
  enum class Kind : std::uint8_t { answer, more, abandoned } kind = Kind::answer;
  std::uint64_t connection = 0;
  std::uint64_t request = 0;
  Reply reply;
};

class Mailbox {
 public:
  Mailbox();

  int event_fd() const { return event_.get(); }
  void post(Letter letter);
  // Wakes the worker without a letter. [any]
  void wake();

  // What has come since; to be called again until it is empty.
  std::vector<Letter> collect();
  // From now on letters are dropped. [any]
  void close();

  // Marks this thread as the owner for as long as it lives: what it posts to itself needs no lock and no wake-up.
  class Here {
   public:
    explicit Here(Mailbox& mailbox);
    ~Here();
    Here(const Here&) = delete;
    Here& operator=(const Here&) = delete;
  };

 private:
  UniqueFd event_;
  std::mutex mutex_;
  std::vector<Letter> letters_;  // mutex_
  bool woken_ = false;           // mutex_: the eventfd is written and not yet read
  bool closed_ = false;          // mutex_
  std::vector<Letter> own_;      // worker
};

class Ticket::Route {
 public:
  Route(std::shared_ptr<Mailbox> mailbox, std::uint64_t connection, std::uint64_t request)
      : mailbox_(std::move(mailbox)), connection_(connection), request_(request) {}
  ~Route();
  Route(const Route&) = delete;
  Route& operator=(const Route&) = delete;

  void post(Letter::Kind kind, Reply reply);

 private:
  std::shared_ptr<Mailbox> mailbox_;
  std::uint64_t connection_;
  std::uint64_t request_;
  std::atomic<bool> used_{false};
};

}  // namespace runwarden::http
