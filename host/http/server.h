// The HTTP/1.1 server: listens, frames requests, and sends each answer from the worker that owns its connection.
//
// Handler and RequestHandler run on a reactor worker and must not block. Each request is answered once, from any thread, through its
// Responder.
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

// The request line and header fields, before any byte of the body is read.
struct RequestHead {
  std::string method;  // as sent, case-sensitive (RFC 9110)
  std::string path;    // raw: before '?', still percent-encoded
  std::string query;   // raw: after '?'
  std::vector<Header> headers;
  std::string request_id;  // the client's if it is 1 to 128 visible ASCII characters, otherwise generated
  std::string client;      // address; from X-Forwarded-For only where the peer is a trusted proxy
  bool https = false;      // as the client sees it: a trusted proxy's X-Forwarded-Proto says so
  bool has_body = false;
  std::int64_t started_ns = 0;  // monotonic, when its first byte was read

  // The value of the first field of that name (lower case); null if there is none.
  const std::string* header(std::string_view name) const;
  std::size_t count(std::string_view name) const;
};

struct Reply {
  int status = 200;
  std::string content_type = "application/json";  // omitted if the body is empty
  std::vector<Header> headers;                    // beyond Content-Type, Content-Length, Connection, Date, X-Request-Id
  std::string body;
  bool close = false;       // close the connection after this answer
  FairBudget::Lease lease;  // of the body; released when the kernel has accepted the last byte or the connection is gone
};

// The right to answer one request once. Movable. Usable from any thread, even after the client or the server is gone.
class Responder {
 public:
  class Route;  // leads back to the worker that owns the connection
  Responder() = default;
  explicit Responder(std::shared_ptr<Route> route) : route_(std::move(route)) {}
  Responder(Responder&&) noexcept = default;
  Responder& operator=(Responder&&) noexcept = default;

  void send(Reply reply);  // at most once, and last
  void hang_up();          // closes the connection without an answer, so that the client cannot mistake anything for one
  void read_more();        // BodyForm::lines only: asks for the next batch instead of answering

 private:
  std::shared_ptr<Route> route_;
};

// Consecutive lines of a body in BodyForm::lines. A body that breaks off (framing fault, timeout, early end, drain) still ends in a last
// batch with the complete lines and the reason. Lines exclude their line feed and a carriage return before it.
struct LineBatch {
  struct Line {
    std::uint64_t number = 0;  // from 1, counting empty lines
    std::string text;
  };
  std::vector<Line> lines;  // without lines of only white space
  bool last = false;
  // If last: how the body ended. Unless it is complete, lines from end_line on are not included.
  enum class End : std::uint8_t { complete, line_too_long, over_batch_bytes, over_lines, bad_encoding, broken_off } end = End::complete;
  std::uint64_t end_line = 0;
  Error fault;  // broken_off: the reason
};

// The application's handler of one request, from its head to its answer. Created and called on one worker. It and its RequestHead live
// until on_answered returns; if the client leaves before the answer, until the outstanding responder is used or destroyed. Exceptions are
// answered with 500.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  virtual void on_body(std::string body, Responder responder) = 0;  // the decoded body; empty if there is none
  // The next lines. The server continues reading after responder.read_more(). responder.send() answers the last batch.
  virtual void on_lines(LineBatch batch, Responder responder) = 0;
  // The answer that the client gets if the server itself refuses its body, or if the application lost the request.
  virtual Reply refusal(const Error& error, const std::string& request_id);
  // Called at least once a second while the body is received; an error ends it.
  virtual std::optional<Error> recheck() { return std::nullopt; }
};

enum class BodyForm : std::uint8_t { whole, lines };

struct Accepted {
  std::unique_ptr<RequestHandler> request_handler;
  BodyForm form = BodyForm::whole;
  std::uint64_t max_body_bytes = 0;   // decoded: the whole body, or one line
  std::uint64_t max_batch_bytes = 0;  // lines: decoded, all of them
  std::uint64_t max_lines = 0;        // lines: non-empty ones
  std::string_view limit_name = {};   // the setting that limits the body, for the error; static storage
};

// Describes each answer that was sent or dropped, for the log and the metrics.
struct Answered {
  const RequestHead* head = nullptr;          // null if the request could not be framed
  RequestHandler* request_handler = nullptr;  // null if on_head refused
  std::string request_id, client;
  int status = 0;
  std::uint64_t request_bytes = 0, answer_bytes = 0;  // on the wire; request_bytes counts the body only
  std::int64_t elapsed_us = 0;
  bool delivered = false;  // false: the client was gone or did not read
};

class Handler {
 public:
  virtual ~Handler() = default;
  // [worker] Refuses the request, or decides how to read its body. Called before the body is read; must not block.
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
  std::uint64_t max_buffered_body_bytes = 1024ULL * 1024 * 1024;  // of all bodies being received; beyond it: 503
  std::vector<std::string> trusted_proxies;                       // addresses or CIDR blocks
};

// Counters for the metrics page; read from any thread.
struct ServerCounts {
  std::uint64_t connections_open = 0, connections_accepted = 0, accept_pauses = 0, framing_errors = 0, timeouts = 0, answers_dropped = 0;
};

class Server {
 public:
  // Binds and listens. Fails if any process listens on the address, even with SO_REUSEPORT. The handler outlives the server.
  static Result<std::unique_ptr<Server>> start(ServerSettings settings, Handler& handler);
  virtual ~Server() = default;

  virtual std::uint16_t port() const = 0;
  virtual ServerCounts counts() const = 0;  // [any]
  // True if every worker has completed a loop within the last `within_ms`.
  virtual bool workers_alive(std::int64_t within_ms) const = 0;
  // Stops listening, answers requests in flight with Connection: close, and ends the workers, within drain_timeout. Bodies that are still
  // being received after three quarters of it end with 503. [main]
  virtual void drain() = 0;
};

}  // namespace runwarden::http
