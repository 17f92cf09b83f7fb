// A receiver of webhooks on loopback: keeps every request, and answers as the test says. Any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
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
  WebhookReceiver(Answering answering, const Place& place);
  ~WebhookReceiver();
  WebhookReceiver(const WebhookReceiver&) = delete;
  WebhookReceiver& operator=(const WebhookReceiver&) = delete;

  std::uint16_t port() const { return port_; }
  std::size_t connections() const { return connections_; }  // so far
  std::string url(const std::string& path) const { return "http://127.0.0.1:" + std::to_string(port_) + path; }

  // What came to the path, once there is that much of it; less where it does not come within the time.
  std::vector<ReceivedMessage> wait_for(const std::string& path, std::size_t count, int timeout_ms = 20'000);

 private:
  static constexpr int kTickMs = 20;

  std::vector<ReceivedMessage> of(const std::string& path) const;

  std::size_t count_of(const std::string& path) const;

  static bool readable(int fd);

  void accept_all();

  void serve(int fd);

  void wait_for_close(int fd) const;

  bool fill(int fd, std::string& got) const;

  std::optional<ReceivedMessage> read(int fd, std::string& got) const;

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
