// A receiver of webhooks on loopback: keeps every request, and answers as the test says. Any thread.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace runwarden::test {

struct ReceivedMessage {
  std::string path;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  }
};

struct WebhookAnswer {
  int status = 204;
  std::string fields;  // each with its line end
  std::string body;
};

class WebhookReceiver {
 public:
  using Answer = WebhookAnswer;
  // Nothing: it never answers. `number` counts the requests of that path from 0.
  using Answering = std::function<std::optional<Answer>(const ReceivedMessage& message, std::size_t number)>;

  // An address of loopback; port 0: any that is free.
  struct Place {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;
  };

  explicit WebhookReceiver(Answering answering = [](const ReceivedMessage&, std::size_t) { return Answer{}; })
      : WebhookReceiver(std::move(answering), Place()) {}
  WebhookReceiver(Answering answering, const Place& place) : answering_(std::move(answering)) {
    listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(place.port);
    socklen_t size = sizeof address;
    const bool listens = ::inet_pton(AF_INET, place.address.c_str(), &address.sin_addr) == 1 &&
                         ::bind(listening_, reinterpret_cast<const sockaddr*>(&address), size) == 0 && ::listen(listening_, 64) == 0 &&
                         ::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    if (!listens) throw std::runtime_error("the receiver cannot listen");
    port_ = ntohs(address.sin_port);
    accepting_ = std::thread([this] { accept_all(); });
  }
  ~WebhookReceiver() {
    stopping_ = true;
    accepting_.join();
    for (std::thread& one : serving_) one.join();
    ::close(listening_);
  }
  WebhookReceiver(const WebhookReceiver&) = delete;
  WebhookReceiver& operator=(const WebhookReceiver&) = delete;

  std::uint16_t port() const { return port_; }
  std::size_t connections() const { return connections_; }  // so far
  std::string url(const std::string& path) const { return "http://127.0.0.1:" + std::to_string(port_) + path; }

  // What came to the path, once there is that much of it; less where it does not come within the time.
  std::vector<ReceivedMessage> wait_for(const std::string& path, std::size_t count, int timeout_ms = 20'000) {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [&] { return count_of(path) >= count; });
    return of(path);
  }

 private:
  static constexpr int kTickMs = 20;

  std::vector<ReceivedMessage> of(const std::string& path) const {
    std::vector<ReceivedMessage> found;
    for (const ReceivedMessage& one : messages_) {
      if (one.path == path) found.push_back(one);
    }
    return found;
  }

  std::size_t count_of(const std::string& path) const {
    return static_cast<std::size_t>(
        std::count_if(messages_.begin(), messages_.end(), [&](const ReceivedMessage& one) { return one.path == path; }));
  }

  static bool readable(int fd) {
    pollfd wait{fd, POLLIN, 0};
    return ::poll(&wait, 1, kTickMs) > 0;
  }

  void accept_all() {
    while (!stopping_) {
      if (!readable(listening_)) continue;
      const int fd = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      ++connections_;
      serving_.emplace_back([this, fd] { serve(fd); });
    }
  }

  void serve(int fd) {
    std::string got;
    while (const auto message = read(fd, got)) {
      std::size_t number = 0;
      {
        const std::lock_guard lock(mutex_);
        number = count_of(message->path);
        messages_.push_back(*message);
      }
      const auto answer = answering_(*message, number);
      came_.notify_all();
      if (!answer) {
        wait_for_close(fd);
        break;
      }
      const std::string text = "HTTP/1.1 " + std::to_string(answer->status) + " Status\r\nContent-Length: " + std::to_string(answer->body.size()) +
                               "\r\n" + answer->fields + "\r\n" + answer->body;
      if (::send(fd, text.data(), text.size(), MSG_NOSIGNAL) < 0) break;
    }
    ::close(fd);
  }

  void wait_for_close(int fd) const {
    char byte = 0;
    while (!stopping_) {
      if (readable(fd) && ::recv(fd, &byte, 1, 0) <= 0) return;
    }
  }

  bool fill(int fd, std::string& got) const {
    char bytes[4096];
    while (!stopping_) {
      if (!readable(fd)) continue;
      const ssize_t read = ::recv(fd, bytes, sizeof bytes, 0);
      if (read <= 0) return false;
      got.append(bytes, static_cast<std::size_t>(read));
      return true;
    }
    return false;
  }

  std::optional<ReceivedMessage> read(int fd, std::string& got) const {
    std::size_t end = 0;
    while ((end = got.find("\r\n\r\n")) == std::string::npos) {
      if (!fill(fd, got)) return std::nullopt;
    }
    ReceivedMessage message;
    const std::string head = got.substr(0, end + 2);
    const auto space = head.find(' ');
    message.path = head.substr(space + 1, head.find(' ', space + 1) - space - 1);
    for (std::size_t at = head.find("\r\n") + 2; at < head.size(); at = head.find("\r\n", at) + 2) {
      const auto colon = head.find(':', at);
      std::string name = head.substr(at, colon - at);
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      const auto value = head.find_first_not_of(' ', colon + 1);
      message.headers[name] = head.substr(value, head.find("\r\n", at) - value);
    }
    const std::size_t length = std::stoul("0" + message.header("content-length"));
    while (got.size() < end + 4 + length) {
      if (!fill(fd, got)) return std::nullopt;
    }
    message.body = got.substr(end + 4, length);
    got.erase(0, end + 4 + length);
    return message;
  }

  Answering answering_;
  int listening_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<std::size_t> connections_{0};
  std::thread accepting_;
  std::list<std::thread> serving_;  // of the accepting thread until it has ended
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::vector<ReceivedMessage> messages_;
};

}  // namespace runwarden::test
