// One client connection: takes bytes, drives one request at a time through the Handler, and sends its answers in order.
//
// Used by its worker's thread only. Owns its socket but not its registration in the poller: after each call the worker queries
// wants_read(), wants_write(), waits_for() and dead() and updates the poller.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/address.h"
#include "http/completion_queue.h"
#include "http/framing.h"
#include "http/handler.h"
#include "http/reply.h"
#include "http/reply_text.h"
#include "http/request.h"
#include "http/responder.h"
#include "http/server.h"
#include "http/shared.h"
#include "http/unique_fd.h"

namespace runwarden::http {

// What a connection uses of its worker.
struct WorkerContext {
  const ServerSettings& settings;
  const TrustedProxies& proxies;
  Handler& handler;
  Counters& counters;
  const std::atomic<bool>& draining;
  std::shared_ptr<CompletionQueue> completions;
  RequestIds ids;
  DateText date;
  std::int64_t now_ns = 0;  // start of this round
  bool bodies_end = false;  // the drain is nearly over: incomplete bodies end
};

void report(WorkerContext& context, const Request* request, AccessRecord record);

class Connection {
 public:
  // What the connection waits for. Each has its own deadline, except app.
  enum class Wait : std::uint8_t { idle, header, body, write, linger, app };

  Connection(WorkerContext& context, UniqueFd socket, const IpAddress& peer, std::uint64_t id);

  void on_readable(char* scratch, std::size_t size);
  void on_writable();
  void on_completion(Completion completion);
  void on_deadline();
  // Asks the application whether a body being received may continue.
  void recheck_body();
  // Once context.bodies_end is set: ends a body being received.
  void end_body();
  // Closes if nothing is in flight; otherwise the answer in flight has Connection: close.
  void on_drain(char* scratch, std::size_t size);
  // The client hung up, or the connection failed.
  void on_gone();

  bool dead() const { return phase_ == Phase::dead; }
  bool wants_read() const;
  bool wants_write() const { return phase_ == Phase::sending; }
  Wait waits_for() const;
  // True once after progress that renews the deadline.
  bool take_progress() { return std::exchange(progress_, false); }
  int fd() const { return socket_.get(); }
  // The request that the application has yet to answer; null if there is none.
  std::unique_ptr<Request> release_request();
  std::uint64_t request_number() const { return request_number_; }

 private:
  enum class Phase : std::uint8_t { head, body, dropping, app, sending, linger, dead };

  void die() { phase_ = Phase::dead; }
  void consume(std::string_view bytes);
  void advance_pending();
  std::size_t advance(std::string_view bytes);
  std::size_t take_head(std::string_view bytes);
  std::size_t take_body(std::string_view bytes);
  std::size_t take_dropped(std::string_view bytes);
  void end_if_half_closed();

  void begin_request(std::string_view head, bool more_follows);
  void name_request();
  void name_unparsed(std::string_view head);
  void begin_unframed(std::string_view head);
  void refuse(Reply reply);
  void accept(Accepted accepted, bool more_follows);
  void react_to_body();
  Responder make_responder();
  void hand_body(std::string body);
  void hand_lines(LineBatch batch);

  enum class After : std::uint8_t { keep_open, close };
  // Ends a body being received: lines with a last batch of complete lines, any other body with a problem.
  void break_off(const Error& error);
  void fail(const Error& error);  // answers with a problem and closes unless the request was read completely
  void answer(Reply reply, After after);
  void flush();
  void finish_answer();
  void hang_up();
  bool body_unread() const;
  void count_framing_error();
  bool too_slow(std::uint64_t bytes, std::int64_t since_ns, std::int64_t grace_ms) const;

  WorkerContext& context_;
  UniqueFd socket_;
  IpAddress peer_;
  std::uint64_t id_;
  Phase phase_ = Phase::head;
  bool read_closed_ = false;
  bool progress_ = false;

  std::string pending_;  // unprocessed bytes
  std::size_t pending_at_ = 0;
  HeadScan scan_;
  std::int64_t head_began_ns_ = 0;

  std::unique_ptr<Request> request_;
  std::uint64_t request_number_ = 0;

  std::string out_head_;
  std::string out_body_;
  FairBudget::Lease out_lease_;  // of out_body_
  std::size_t out_at_ = 0;
  int out_status_ = 0;
  std::string out_request_id_;
  std::int64_t out_began_ns_ = 0;
  After out_after_ = After::keep_open;

  std::uint64_t lingered_bytes_ = 0;
};

}  // namespace runwarden::http
