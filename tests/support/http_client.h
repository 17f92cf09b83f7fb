// A small HTTP/1.1 client on one raw loopback socket, for tests that care about bytes. Every wait ends after a timeout.
// One owner, one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "support/sanitized.h"

namespace runwarden::test {

// A sanitized service beside other tests may need long for its largest requests.
inline constexpr int kAnswerTimeoutMs = kSanitized ? 40'000 : 10'000;

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  }
};

class HttpClient {
 public:
  // A socket that is not connected yet.
  explicit HttpClient(int timeout_ms = kAnswerTimeoutMs);
  static HttpClient to(std::uint16_t port, int timeout_ms = kAnswerTimeoutMs);
  void set_timeout(int ms) { timeout_ms_ = ms; }
  // Before connect(): how little the kernel shall take in for a client that does not read.
  void set_receive_buffer(int bytes);
  bool connect(std::uint16_t port);
  HttpClient(HttpClient&& other) noexcept;
  HttpClient& operator=(HttpClient&&) = delete;
  ~HttpClient() { close(); }

  bool connected() const { return connected_; }
  int fd() const { return fd_; }

  // False when the server had closed, or took nothing for the timeout.
  bool send(std::string_view bytes);

  // The next answer; nothing when the connection ended before it was whole, or the timeout passed.
  // An answer to HEAD has no body, whatever its Content-Length says. Answers 1xx are given back like others.
  std::optional<HttpAnswer> answer(bool to_head = false);

  // Whether anything comes within the time.
  bool hears_within(int ms);
  // True when the server ends the connection within the timeout; what comes before that is kept in rest().
  bool closed_by_server();
  const std::string& rest() const { return got_; }

  void half_close();
  // Ends with a reset, as a client that is killed does.
  void abort();
  void close();

 private:
  bool wait(short events);

  bool receive();

  static HttpAnswer parse_head(std::string_view head);

  int fd_ = -1;
  int timeout_ms_;
  bool connected_ = false;
  bool ended_ = false;
  std::string got_;
};

// A POST with a Content-Length; further fields end in CRLF each.
std::string post_request(const std::string& path, const std::string& body, const std::string& fields = {});

std::string get_request(const std::string& path, const std::string& fields = {});

}  // namespace runwarden::test
