// The handler that the server's tests run: answers with what it was sent, at once or from other threads.
//
// Paths: /echo answers the body; /late answers it from a pool of threads after a small delay; /hold keeps it until
// release(); /lines counts lines; /big answers query-many bytes; /missing is refused with 404; /throw-head and /throw-body
// throw; /drop lets go of its responder; /hang-up hangs up. Answers of /big and /hold have a lease of `budget`. Members are guarded by mutex_.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "http/handler.h"
#include "http/reply.h"
#include "http/request_head.h"
#include "http/responder.h"
#include "http/server.h"

namespace runwarden::http {

struct SeenAnswer {
  int status = 0;
  std::string path;  // empty: not framed
  std::string request_id;
  std::string client;
  std::uint64_t request_bytes = 0;
  std::uint64_t answer_bytes = 0;
  bool had_request_handler = false;
  bool delivered = false;
};

class EchoHandler final : public Handler {
 public:
  explicit EchoHandler(int late_threads = 0);
  ~EchoHandler() override;

  std::uint64_t max_body_bytes = 1024 * 1024;
  std::uint64_t max_batch_bytes = 16 * 1024 * 1024;
  std::uint64_t max_lines = 100'000;
  FairBudget budget{std::uint64_t{1} << 40};

  std::variant<Reply, Accepted> on_head(const RequestHead& head) override;

  void on_answered(const AccessRecord& record) override;

  // Answers what /hold kept.
  void release();
  bool wait_held(std::size_t count);
  // The answers reported so far, once there are `count` of them (or 10 s have passed).
  std::vector<SeenAnswer> wait_seen(std::size_t count);
  bool wait_undelivered();
  // Whether all leases have ended, now or within 10 s.
  bool wait_leases_ended();
  std::string last_client() { return locked(last_client_); }
  std::string last_path() { return locked(last_path_); }
  std::string last_query() { return locked(last_query_); }
  std::size_t workers_seen();
  std::vector<LineBatch> batches();
  std::atomic<bool> refuse_at_recheck{false};
  std::atomic<int> rechecks{0};
  // Lines of /lines are answered with more() only by the test itself.
  std::atomic<bool> hold_batches{false};
  bool wait_batch_held();
  void release_batch();

 private:
  struct Held {
    std::string body;
    Responder responder;
  };

  class EchoRequestHandler;

  Reply leased_reply_of(std::string body);

  static Reply reply_of(std::string body);

  std::string locked(const std::string& text);

  void hold(std::deque<Held>& where, Held held);

  // Takes one from a random place, so that answers come back in another order than they were asked for.
  void answer_late(unsigned seed);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Held> late_;
  std::deque<Held> held_;
  std::unique_ptr<Responder> held_batch_;
  std::vector<SeenAnswer> seen_;
  std::vector<LineBatch> batches_;
  std::set<std::thread::id> workers_;
  std::string last_client_;
  std::string last_path_;
  std::string last_query_;
  bool stopping_ = false;
  std::vector<std::thread> pool_;
};

// A running server with its handler; ends with a drain.
struct Running {
  explicit Running(ServerSettings settings = {}, int late_threads = 0);
  ~Running();
  std::uint16_t port() const { return server->port(); }

  EchoHandler handler;
  std::unique_ptr<Server> server;
};

}  // namespace runwarden::http
