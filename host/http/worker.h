// The part of the server that belongs to one reactor thread: its listener, its connections, their deadlines and the completions.
//
// Constructed on the main thread. While the reactor runs everything happens on its own thread, except alive_ns(),
// connections() and completions().
#pragma once

#include <pistache/reactor.h>

#include <array>
#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "http/connection.h"

namespace runwarden::http {

// The state shared by all workers of a server.
struct ServerState {
  ServerSettings settings;
  TrustedProxies proxies;
  Handler& handler;
  Counters counters;
  std::atomic<bool> draining{false};
  std::function<void()> on_empty;  // [worker] called while draining when a worker has no connection left
};

class Worker final : public Pistache::Aio::Handler {
 public:
  Worker(ServerState& state, UniqueFd listener);
  ~Worker() override;

  std::shared_ptr<Pistache::Aio::Handler> clone() const override;
  void registerPoller(Pistache::Polling::Epoll& poller) override;
  void onReady(const Pistache::Aio::FdSet& events) override;

  CompletionQueue& completions() const { return *context_.completions; }
  std::int64_t alive_ns() const { return alive_ns_.load(std::memory_order_relaxed); }
  std::size_t connections() const { return live_.load(std::memory_order_acquire); }
  // True once the worker has noticed the drain. From then on connections() only decreases.
  bool drains() const { return drains_.load(std::memory_order_acquire); }

 private:
  using Wait = Connection::Wait;
  using Queue = std::list<std::uint32_t>;  // slots, the earliest deadline first, because all in a queue have the same timeout
  static constexpr std::size_t kQueues = 5;

  // The generation is part of the connection's id, so that late events and completions for an earlier connection are recognized.
  struct Slot {
    std::unique_ptr<Connection> connection;
    std::uint32_t generation = 0;
    bool reads = false;
    bool writes = false;
    Wait wait = Wait::app;
    std::int64_t deadline_ns = 0;
    Queue::iterator place;
  };

  void serve(const Pistache::Aio::FdSet::Entry& event);
  void serve_connection(std::uint64_t id, const Pistache::Aio::FdSet::Entry& event);
  void accept_some();
  bool accept_one();
  void add(UniqueFd socket, const sockaddr_storage& peer);
  void pause_accepting();
  void resume_accepting();
  void deliver_completions();
  void deliver(Completion completion);
  void tick();
  void end_waits();
  void recheck_bodies();
  void end_bodies();
  void for_each_body(const std::function<void(Connection&)>& what);
  void start_drain();
  void settle(std::uint32_t index);
  void arrange_deadline(std::uint32_t index);
  void remove(std::uint32_t index);
  void end(std::uint64_t id);
  Connection* find(std::uint64_t id);
  std::int64_t timeout_ns(Wait wait) const;

  ServerState& state_;
  WorkerContext context_;
  UniqueFd listener_;
  UniqueFd timer_;
  Pistache::Polling::Epoll* poller_ = nullptr;
  std::vector<char> scratch_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::array<Queue, kQueues> queues_;
  Queue waiting_for_app_;
  struct PairHash {
    std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& key) const {
      return key.first * 0x9E3779B97F4A7C15ULL ^ key.second;
    }
  };
  // Requests whose client is gone, until the application releases them.
  std::unordered_map<std::pair<std::uint64_t, std::uint64_t>, std::unique_ptr<Request>, PairHash> orphans_;
  bool accepting_ = false;
  bool drain_started_ = false;
  std::int64_t bodies_end_ns_ = 0;  // while draining
  std::int64_t recheck_ns_ = 0;     // time of the next recheck of bodies being received
  std::atomic<bool> drains_{false};
  std::atomic<std::size_t> live_{0};
  std::atomic<std::int64_t> alive_ns_{0};
};

}  // namespace runwarden::http
