// The HTTP/1.1 server: listens, frames requests, and sends each answer from the worker that owns its connection.
//
// What it calls (Handler, Exchange) runs on a reactor worker and must not block; what an Exchange hands on may be
// answered once, from any thread, through its Ticket.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/fair_budget.h"
#include "base/result.h"

namespace runwarden::http {

struct Header {
  std::string name;  // lower case
  std::string value;
};

// Request line and header fields, before any byte of the body was looked at.
struct RequestHead {
  std::string method;  // as sent, case-sensitive (RFC 9110)
  std::string path;    // raw: before '?', still percent-encoded
  std::string query;   // raw: after '?'
  std::vector<Header> headers;
  std::string request_id;  // the client's own if it is 1 to 128 visible ASCII characters, otherwise a fresh one
  std::string client;      // address; from X-Forwarded-For only where the peer is a trusted proxy
  bool has_body = false;
  std::int64_t started_ns = 0;  // monotonic, when its first byte was read

  // The value of the first such field, null if there is none; name in lower case.
  const std::string* header(std::string_view name) const;
  std::size_t count(std::string_view name) const;
};

struct Reply {
  int status = 200;
  std::string content_type = "application/json";  // left out when the body is empty
  std::vector<Header> headers;                    // beyond Content-Type, Content-Length, Connection, Date, X-Request-Id
  std::string body;
  bool close = false;       // end the connection after this answer
  FairBudget::Lease lease;  // of the body; ends when the kernel has taken the last byte, or the connection is gone
};

// The right to answer one request, once. Moves; may be used from any thread, after the client or the server is gone too.
class Ticket {
 public:
  class Route;  // the way back to the worker that owns the connection
  Ticket() = default;
  explicit Ticket(std::shared_ptr<Route> route) : route_(std::move(route)) {}
  Ticket(Ticket&&) noexcept = default;
  Ticket& operator=(Ticket&&) noexcept = default;

  void send(Reply reply);  // at most once; nothing may be called after it
  void more();             // lines only: the batch that came with this ticket is done with, send the next

 private:
  std::shared_ptr<Route> route_;
};

// Some lines of a body in BodyForm::lines, in order. A body that breaks off (a framing fault, a timeout, a client that ends it early, a
// drain) still ends in a last batch: the lines that came whole, and why. A line has neither its line feed nor a carriage return before it.
struct LineBatch {
  struct Line {
    std::uint64_t number = 0;  // from 1, empty lines counted
    std::string text;
  };
  std::vector<Line> lines;  // lines of nothing but white space are left out
  bool last = false;
  // With last: how the body ended. Unless it is complete, no line from end_line on was taken.
  enum class End : std::uint8_t { complete, line_too_long, over_batch_bytes, over_lines, bad_encoding, broken_off } end = End::complete;
  std::uint64_t end_line = 0;
  Error fault;  // broken_off: why
};

// What the application keeps of one request between its head and its answer. Made and called on one worker.
// It and its RequestHead live until on_answered has returned; if the client left too early for an answer, until the ticket
// that is out has come back. What throws here is answered with 500.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void on_body(std::string body, Ticket ticket) = 0;  // all of it, decoded; empty for a request without one
  // The next lines. The server reads on only after ticket.more(); the last batch is answered by ticket.send().
  virtual void on_lines(LineBatch batch, Ticket ticket) = 0;
  // At least once a second while the body comes in: an error breaks it off.
  virtual std::optional<Error> recheck() { return std::nullopt; }
};

enum class BodyForm : std::uint8_t { whole, lines };

struct Accepted {
  std::unique_ptr<Exchange> exchange;
  BodyForm form = BodyForm::whole;
  std::uint64_t max_body_bytes = 0;   // decoded: the whole body, or one line
  std::uint64_t max_batch_bytes = 0;  // lines: decoded, all of them
  std::uint64_t max_lines = 0;        // lines: non-empty ones
};

// What the server says of each answer it sent or dropped, for the log and the metrics.
struct Answered {
  const RequestHead* head = nullptr;  // null when the request could not be framed
  Exchange* exchange = nullptr;       // null when on_head refused
  std::string request_id, client;
  int status = 0;
  std::uint64_t request_bytes = 0, answer_bytes = 0;  // on the wire; of the request its body only
  std::int64_t elapsed_us = 0;
  bool delivered = false;  // false: the client was gone, or did not read
};

class Handler {
 public:
  virtual ~Handler() = default;
  // [worker] Refuse at once, or say how the body is to be read. Called before the body; must not block.
  virtual std::variant<Reply, Accepted> on_head(const RequestHead& head) = 0;
  virtual void on_answered(const Answered& answered) = 0;  // [worker]
};

struct ServerSettings {
  std::string address;  // "127.0.0.1:8080", "[::1]:8080", port 0 picks a free one
  int threads = 1;
  std::size_t max_connections = 10000;
  std::int64_t header_timeout_ms = 10'000;
  std::int64_t body_timeout_ms = 30'000;
  std::int64_t idle_timeout_ms = 75'000;
  std::int64_t write_timeout_ms = 30'000;
  std::int64_t drain_timeout_ms = 10'000;
  std::size_t max_header_bytes = 16 * 1024;
  std::size_t max_header_fields = 100;
  std::uint64_t max_buffered_body_bytes = 1024ULL * 1024 * 1024;  // of all bodies that are coming in; over it: 503
  std::vector<std::string> trusted_proxies;                       // addresses or CIDR blocks
};

// Counters for the metrics page; read from any thread.
struct ServerCounts {
  std::uint64_t connections_open = 0, connections_accepted = 0, accept_pauses = 0, framing_errors = 0, timeouts = 0, answers_dropped = 0;
};

class Server {
 public:
  // Binds and listens, or says why not (address in use by anybody, SO_REUSEPORT or not). The handler outlives the server.
  static Result<std::unique_ptr<Server>> start(ServerSettings settings, Handler& handler);
  virtual ~Server() = default;

  virtual std::uint16_t port() const = 0;
  virtual ServerCounts counts() const = 0;  // [any]
  // True while every worker has gone round its loop in the last `within_ms`.
  virtual bool workers_alive(std::int64_t within_ms) const = 0;
  // Stops listening, answers what is in flight with Connection: close, then ends the workers; at most drain_timeout. Bodies that are
  // still coming in after three quarters of it break off with 503. [main]
  virtual void drain() = 0;
};

}  // namespace runwarden::http
