// The service manager's end of systemd's notify protocol: a socket of the test's own that takes down what the service says.
// One owner, one thread.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>

namespace runwarden::test {

class NotifySocket {
 public:
  // As NOTIFY_SOCKET has it: an absolute path, or @name.
  explicit NotifySocket(std::string name) : name_(std::move(name)), fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name_.data(), name_.size());
    if (name_.front() == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
    if (::bind(fd_, reinterpret_cast<const sockaddr*>(&address), size) != 0) throw std::runtime_error("bind " + name_);
  }
  ~NotifySocket() { ::close(fd_); }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  const std::string& name() const { return name_; }

  // The next message; none when there is none within the time.
  std::optional<std::string> next(int timeout_ms) {
    pollfd waiting{fd_, POLLIN, 0};
    if (::poll(&waiting, 1, timeout_ms) <= 0) return std::nullopt;
    char bytes[4096];
    const ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
    return got < 0 ? std::nullopt : std::optional(std::string(bytes, static_cast<std::size_t>(got)));
  }

  // The next message with such a line; others are passed over.
  std::optional<std::string> next_with(const std::string& start_of_line, int timeout_ms = 30'000) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
      const auto message = next(static_cast<int>(left > 0 ? left : 0));
      if (!message) return std::nullopt;
      if (("\n" + *message).find("\n" + start_of_line) != std::string::npos) return message;
    }
  }

 private:
  std::string name_;
  int fd_;
};

}  // namespace runwarden::test
