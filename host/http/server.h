// The HTTP/1.1 server: listens, frames requests, and sends each answer from the worker that owns its connection. Started and drained by the
// main thread; the application is behind Handler (handler.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace runwarden::http {

class Handler;

struct ServerSettings {
  std::string address;  // "127.0.0.1:8080", "[::1]:8080", port 0 picks a free one
  std::string address_setting = "server.address";  // its name in the configuration, for errors
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
