// Posts runs over many keep-alive connections from one thread, one request in flight each, and prints what it measured.
//
//   bench_http_load --port N [--host 127.0.0.1] [--connections 64] [--seconds 10 | --requests N] [--path /v1/ingest/runs]
//                   [--key API_KEY | --keys FILE] [--body FILE [--type MEDIA_TYPE] [--mark TEXT]] [--warmup-seconds 0]
//
// --keys: a file with a key a line, all of one length; each request bears the next one.
// Without --body each request is a run of its own: 12 steps, about 4 KB, a fresh runId. With it, that file is posted, wherever it holds
// TEXT with fresh hexadecimal digits of the same length in its place. Prints one line of JSON:
// requests, errors (transport faults and answers that are not 2xx), rps, p50_us, p99_us, max_us. Exits 1 when none succeeded.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "sample_runs.h"
#include "support/files.h"

namespace {

struct Options {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  int connections = 64;
  double seconds = 10;
  double warmup_seconds = 0;
  std::uint64_t requests = 0;
  std::string path = "/v1/ingest/runs";
  std::string key;
  std::string keys_file;
  std::string body_file;
  std::string type = "application/json";
  std::string mark;
};

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Makes the bytes of each request: head, body, and marks of fixed length that are written anew each time.
class RequestSource {
 public:
  explicit RequestSource(const Options& options) : mark_(options.mark) {
    std::string body;
    if (options.body_file.empty()) {
      mark_ = "run_0000000000000000000X";
      body = runwarden::test::ordinary_run(mark_);
    } else {
      body = runwarden::test::read_file(options.body_file);
    }
    text_ = "POST " + options.path + " HTTP/1.1\r\nHost: " + options.host + "\r\nContent-Type: " + options.type + "\r\n";
    std::string key = options.key;
    if (!options.keys_file.empty()) {
      std::ifstream keys(options.keys_file);
      for (std::string line; std::getline(keys, line);) keys_.push_back(line);
      key = keys_.at(0);
    }
    if (!key.empty()) text_ += "Authorization: Bearer ";
    key_at_ = text_.size();
    if (!key.empty()) text_ += key + "\r\n";
    text_ += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    for (auto at = mark_.empty() ? std::string::npos : text_.find(mark_); at != std::string::npos; at = text_.find(mark_, at + 1)) marks_.push_back(at);
    std::random_device device;
    series_ = device();
  }

  const std::string& next() {
    if (!keys_.empty()) text_.replace(key_at_, keys_[0].size(), keys_[next_key_++ % keys_.size()]);
    if (marks_.empty()) return text_;
    char id[32];
    std::snprintf(id, sizeof id, "%08x%016llx", series_, static_cast<unsigned long long>(++count_));
    const std::string_view digits(id, 24);
    const std::size_t shown = std::min(mark_.size(), digits.size());  // the last digits, which change most
    for (const std::size_t at : marks_) {
      text_.replace(at, mark_.size(), mark_.size(), 'a');
      text_.replace(at + mark_.size() - shown, shown, digits.substr(digits.size() - shown));
    }
    return text_;
  }

 private:
  std::string text_;
  std::string mark_;
  std::vector<std::size_t> marks_;  // where the text holds it
  std::vector<std::string> keys_;
  std::size_t key_at_ = 0;
  std::size_t next_key_ = 0;
  std::uint32_t series_ = 0;
  std::uint64_t count_ = 0;
};

struct Client {
  int fd = -1;
  std::string out;
  std::size_t out_at = 0;
  std::string in;
  std::int64_t asked_ns = 0;
};

class Load {
 public:
  explicit Load(const Options& options) : options_(options), source_(options), poller_(epoll_create1(EPOLL_CLOEXEC)) {
    clients_.resize(static_cast<std::size_t>(options.connections));
  }
  ~Load() {
    for (auto& client : clients_) {
      if (client.fd >= 0) ::close(client.fd);
    }
    ::close(poller_);
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  bool run() {
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (!connect(i)) return false;
    }
    const std::int64_t start_ns = now_ns();
    counted_from_ns_ = start_ns + static_cast<std::int64_t>(options_.warmup_seconds * 1e9);
    const std::int64_t end_ns = counted_from_ns_ + static_cast<std::int64_t>(options_.seconds * 1e9);
    for (std::size_t i = 0; i < clients_.size(); ++i) ask(i);
    std::vector<epoll_event> events(clients_.size());
    while (!done(end_ns)) {
      const int ready = epoll_wait(poller_, events.data(), static_cast<int>(events.size()), 100);
      for (int i = 0; i < ready; ++i) serve(static_cast<std::size_t>(events[i].data.u64));
    }
    elapsed_ns_ = now_ns() - counted_from_ns_;
    return true;
  }

  bool print() {
    std::sort(latencies_ns_.begin(), latencies_ns_.end());
    const auto at = [&](double part) {
      if (latencies_ns_.empty()) return 0.0;
      return static_cast<double>(latencies_ns_[static_cast<std::size_t>(part * static_cast<double>(latencies_ns_.size() - 1))]) / 1000;
    };
    std::printf("{\"requests\":%zu,\"errors\":%llu,\"rps\":%.0f,\"p50_us\":%.0f,\"p99_us\":%.0f,\"max_us\":%.0f}\n", latencies_ns_.size(),
                static_cast<unsigned long long>(errors_),
                static_cast<double>(latencies_ns_.size()) * 1e9 / static_cast<double>(elapsed_ns_), at(0.5), at(0.99), at(1.0));
    return !latencies_ns_.empty();
  }

 private:
  bool done(std::int64_t end_ns) const {
    if (lost_ == clients_.size()) return true;
    if (options_.requests > 0) return latencies_ns_.size() + errors_ >= options_.requests;
    return now_ns() >= end_ns;
  }

  bool connect(std::size_t index) {
    Client& client = clients_[index];
    client = {};
    client.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(options_.port);
    if (inet_pton(AF_INET, options_.host.c_str(), &to.sin_addr) != 1) return false;
    const int on = 1;
    ::setsockopt(client.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(client.fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return false;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = index;
    return epoll_ctl(poller_, EPOLL_CTL_ADD, client.fd, &event) == 0;
  }

  void ask(std::size_t index) {
    Client& client = clients_[index];
    client.out = source_.next();
    client.out_at = 0;
    client.asked_ns = now_ns();
    push(index);
  }

  void push(std::size_t index) {
    Client& client = clients_[index];
    const ssize_t sent =
        ::send(client.fd, client.out.data() + client.out_at, client.out.size() - client.out_at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) return fail(index);
    if (sent > 0) client.out_at += static_cast<std::size_t>(sent);
    epoll_event event{};
    event.events = client.out_at < client.out.size() ? EPOLLIN | EPOLLOUT : EPOLLIN;
    event.data.u64 = index;
    if (event.events != EPOLLIN) epoll_ctl(poller_, EPOLL_CTL_MOD, client.fd, &event);
  }

  void serve(std::size_t index) {
    Client& client = clients_[index];
    if (client.out_at < client.out.size()) {
      push(index);
      if (client.out_at == client.out.size()) {
        epoll_event event{EPOLLIN, {}};
        event.data.u64 = index;
        epoll_ctl(poller_, EPOLL_CTL_MOD, client.fd, &event);
      }
    }
    char bytes[16 * 1024];
    const ssize_t got = ::recv(client.fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return fail(index);
    client.in.append(bytes, static_cast<std::size_t>(got));
    const auto head = client.in.find("\r\n\r\n");
    if (head == std::string::npos || client.in.size() < head + 4 + content_length(std::string_view(client.in).substr(0, head))) return;
    answered(client);
    ask(index);
  }

  static std::size_t content_length(std::string_view head) {
    constexpr std::string_view kName = "\r\ncontent-length:";
    const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
    const auto found = std::search(head.begin(), head.end(), kName.begin(), kName.end(), same);
    return found == head.end() ? 0 : std::strtoull(&*found + kName.size(), nullptr, 10);
  }

  void answered(Client& client) {
    const std::int64_t now = now_ns();
    if (now >= counted_from_ns_) {
      if (client.in.size() > 9 && client.in[9] == '2') {
        latencies_ns_.push_back(now - client.asked_ns);
      } else {
        ++errors_;
      }
    }
    client.in.clear();
  }

  void fail(std::size_t index) {
    ++errors_;
    ::close(clients_[index].fd);
    if (connect(index)) {
      ask(index);
    } else {
      ++lost_;
    }
  }

  const Options& options_;
  RequestSource source_;
  int poller_;
  std::vector<Client> clients_;
  std::vector<std::int64_t> latencies_ns_;
  std::uint64_t errors_ = 0;
  std::size_t lost_ = 0;  // clients that could not connect again
  std::int64_t counted_from_ns_ = 0;
  std::int64_t elapsed_ns_ = 1;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Posts runs over many keep-alive connections and prints requests, errors, rps and latencies as JSON");
  app.add_option("--port", options.port, "Port of the service")->required();
  app.add_option("--host", options.host, "IPv4 address of the service");
  app.add_option("--connections", options.connections, "Connections, one request in flight each")->check(CLI::Range(1, 10000));
  app.add_option("--seconds", options.seconds, "How long to measure");
  app.add_option("--warmup-seconds", options.warmup_seconds, "How long to run before measuring");
  app.add_option("--requests", options.requests, "End after so many answers instead");
  app.add_option("--path", options.path, "Path to post to");
  app.add_option("--key", options.key, "API key, sent as Authorization: Bearer");
  app.add_option("--keys", options.keys_file, "File of API keys, one a line, that requests bear in turn")->check(CLI::ExistingFile)->excludes("--key");
  app.add_option("--body", options.body_file, "File that is posted each time instead of fresh runs")->check(CLI::ExistingFile);
  app.add_option("--type", options.type, "Its media type");
  app.add_option("--mark", options.mark, "What in it is replaced each time by fresh hexadecimal digits");
  CLI11_PARSE(app, argc, argv);
  Load load(options);
  if (!load.run()) {
    std::fprintf(stderr, "bench_http_load: cannot connect to %s port %u\n", options.host.c_str(), static_cast<unsigned>(options.port));
    return 1;
  }
  return load.print() ? 0 : 1;
}
