#include "support/webhook_receiver.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace runwarden::test {

WebhookReceiver::WebhookReceiver(Answering answering, const Place& place) : answering_(std::move(answering)) {
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

WebhookReceiver::~WebhookReceiver() {
  stopping_ = true;
  accepting_.join();
  for (std::thread& one : serving_) one.join();
  ::close(listening_);
}

std::vector<ReceivedMessage> WebhookReceiver::wait_for(const std::string& path, std::size_t count, int timeout_ms) {
  std::unique_lock lock(mutex_);
  came_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [&] { return count_of(path) >= count; });
  return of(path);
}

std::vector<ReceivedMessage> WebhookReceiver::of(const std::string& path) const {
  std::vector<ReceivedMessage> found;
  for (const ReceivedMessage& one : messages_) {
    if (one.path == path) found.push_back(one);
  }
  return found;
}

std::size_t WebhookReceiver::count_of(const std::string& path) const {
  return static_cast<std::size_t>(
      std::count_if(messages_.begin(), messages_.end(), [&](const ReceivedMessage& one) { return one.path == path; }));
}

bool WebhookReceiver::readable(int fd) {
  pollfd wait{fd, POLLIN, 0};
  return ::poll(&wait, 1, kTickMs) > 0;
}

void WebhookReceiver::accept_all() {
  while (!stopping_) {
    if (!readable(listening_)) continue;
    const int fd = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    ++connections_;
    serving_.emplace_back([this, fd] { serve(fd); });
  }
}

void WebhookReceiver::serve(int fd) {
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
    const std::string text = "HTTP/1.1 " + std::to_string(answer->status) +
                             " Status\r\nContent-Length: " + std::to_string(answer->body.size()) + "\r\n" + answer->fields + "\r\n" +
                             answer->body;
    if (::send(fd, text.data(), text.size(), MSG_NOSIGNAL) < 0) break;
  }
  ::close(fd);
}

void WebhookReceiver::wait_for_close(int fd) const {
  char byte = 0;
  while (!stopping_) {
    if (readable(fd) && ::recv(fd, &byte, 1, 0) <= 0) return;
  }
}

bool WebhookReceiver::fill(int fd, std::string& got) const {
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

std::optional<ReceivedMessage> WebhookReceiver::read(int fd, std::string& got) const {
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

}  // namespace runwarden::test
