#include "support/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace runwarden::test {

HttpClient::HttpClient(int timeout_ms) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), timeout_ms_(timeout_ms) {}

HttpClient HttpClient::to(std::uint16_t port, int timeout_ms) {
  HttpClient client(timeout_ms);
  client.connect(port);
  return client;
}

void HttpClient::set_receive_buffer(int bytes) {
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

bool HttpClient::connect(std::uint16_t port) {
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  return connected_;
}

HttpClient::HttpClient(HttpClient&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), timeout_ms_(other.timeout_ms_), connected_(other.connected_), got_(std::move(other.got_)) {}

bool HttpClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!wait(POLLOUT)) return false;
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::optional<HttpAnswer> HttpClient::answer(bool to_head) {
  std::size_t end = 0;
  while ((end = got_.find("\r\n\r\n")) == std::string::npos) {
    if (!receive()) return std::nullopt;
  }
  HttpAnswer answer = parse_head(std::string_view(got_).substr(0, end + 2));
  got_.erase(0, end + 4);
  const std::size_t length = to_head ? 0 : static_cast<std::size_t>(std::strtoull(answer.header("content-length").c_str(), nullptr, 10));
  while (got_.size() < length) {
    if (!receive()) return std::nullopt;
  }
  answer.body = got_.substr(0, length);
  got_.erase(0, length);
  return answer;
}

bool HttpClient::hears_within(int ms) {
  pollfd waiting{fd_, POLLIN, 0};
  return !got_.empty() || ::poll(&waiting, 1, ms) > 0;
}

bool HttpClient::closed_by_server() {
  while (receive()) {
  }
  return ended_;
}

void HttpClient::half_close() {
  ::shutdown(fd_, SHUT_WR);
}

void HttpClient::abort() {
  const linger now{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

void HttpClient::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

bool HttpClient::wait(short events) {
  pollfd waiting{fd_, events, 0};
  return ::poll(&waiting, 1, timeout_ms_) > 0;
}

bool HttpClient::receive() {
  char bytes[16 * 1024];
  if (!wait(POLLIN)) return false;
  const ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
  if (got <= 0) {
    ended_ = true;
    return false;
  }
  got_.append(bytes, static_cast<std::size_t>(got));
  return true;
}

HttpAnswer HttpClient::parse_head(std::string_view head) {
  HttpAnswer answer;
  answer.status = head.size() > 12 ? std::atoi(std::string(head.substr(9, 3)).c_str()) : 0;
  for (auto line = head.find("\r\n") + 2; line < head.size();) {
    const auto end = head.find("\r\n", line);
    const auto colon = head.find(':', line);
    if (colon < end) {
      std::string name(head.substr(line, colon - line));
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      const auto value = std::min(head.find_first_not_of(' ', colon + 1), end);
      answer.headers[name] = head.substr(value, end - value);
    }
    line = end + 2;
  }
  return answer;
}

std::string post_request(const std::string& path, const std::string& body, const std::string& fields) {
  return "POST " + path + " HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n" + fields +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string get_request(const std::string& path, const std::string& fields) {
  return "GET " + path + " HTTP/1.1\r\nHost: test\r\n" + fields + "\r\n";
}

}  // namespace runwarden::test
