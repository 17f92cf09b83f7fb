#include "support/postgres_proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <vector>

namespace runwarden::test {
namespace {

constexpr const char* kName = ".s.PGSQL.5432";

template <class Use>
int socket_at(const std::filesystem::path& path, Use use) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (use(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket);
    return -1;
  }
  return socket;
}

void close_end(int& end) {
  if (end >= 0) ::close(end);
  end = -1;
}

void send_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

// False: the end it came from is closed.
template <class Use>
bool pass(int from, Use use) {
  std::array<char, 65536> bytes;
  const ssize_t got = ::recv(from, bytes.data(), bytes.size(), 0);
  if (got <= 0) return false;
  use(std::string_view(bytes.data(), static_cast<std::size_t>(got)));
  return true;
}

}  // namespace

PostgresProxy::PostgresProxy(std::filesystem::path server_socket)
    : server_(std::move(server_socket)), listener_(socket_at(folder_.path() / kName, ::bind)) {
  if (::listen(listener_, 16) != 0 || ::pipe(wake_.data()) != 0) throw std::runtime_error("the proxy cannot listen");
  thread_ = std::thread([this] { work(); });
}

PostgresProxy::~PostgresProxy() {
  tell('q');
  thread_.join();
  for (Pair& pair : pairs_) close_pair(pair);
  ::close(listener_);
  for (const int end : wake_) ::close(end);
}

std::string PostgresProxy::answer() const {
  const std::lock_guard lock(mutex_);
  return answer_;
}

void PostgresProxy::set(Watched& watched, std::string text, std::function<void()> then) {
  const std::lock_guard lock(mutex_);
  watched = {std::move(text), std::move(then)};
}

void PostgresProxy::tell(char what) {
  if (::write(wake_[1], &what, 1) != 1) throw std::runtime_error("the proxy does not listen");
}

void PostgresProxy::close_pair(Pair& pair) {
  close_end(pair.client);
  close_end(pair.server);
}

bool PostgresProxy::takes(Watched& watched, std::string_view bytes, std::function<void()>& then) {
  const std::lock_guard lock(mutex_);
  if (watched.text.empty() || bytes.find(watched.text) == std::string_view::npos) return false;
  then = std::exchange(watched, {}).then;
  return true;
}

void PostgresProxy::from_client(Pair& pair, std::string_view bytes) {
  std::function<void()> then;
  if (takes(kept_, bytes, then)) {
    pair.kept = bytes;
    pair.keeps = true;
    if (then) then();
    close_end(pair.client);
    return;
  }
  send_all(pair.server, bytes);
  if (takes(seen_, bytes, then) && then) then();
}

void PostgresProxy::from_server(Pair& pair, std::string_view bytes) {
  if (!pair.keeps) return send_all(pair.client, bytes);
  const std::lock_guard lock(mutex_);
  answer_ += bytes;
}

bool PostgresProxy::take_order() {
  char what = 0;
  if (::read(wake_[0], &what, 1) != 1 || what == 'q') return false;
  for (Pair& pair : pairs_) {
    if (!pair.keeps) continue;
    if (what == 's') send_all(pair.server, std::exchange(pair.kept, {}));
    if (what == 'd') close_end(pair.server);
  }
  return true;
}

void PostgresProxy::work() {
  while (true) {
    std::vector<pollfd> ends{{wake_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    std::vector<std::pair<Pair*, bool>> owners;
    for (Pair& pair : pairs_) {
      if (pair.client >= 0) ends.push_back({pair.client, POLLIN, 0}), owners.emplace_back(&pair, true);
      if (pair.server >= 0) ends.push_back({pair.server, POLLIN, 0}), owners.emplace_back(&pair, false);
    }
    if (::poll(ends.data(), ends.size(), -1) < 0) continue;
    if (ends[0].revents != 0 && !take_order()) return;
    for (std::size_t i = 0; i < owners.size(); ++i) {
      if (ends[i + 2].revents == 0) continue;
      Pair& pair = *owners[i].first;
      if (owners[i].second) {
        if (pair.client >= 0 && !pass(pair.client, [&](std::string_view bytes) { from_client(pair, bytes); })) close_pair(pair);
      } else if (pair.server >= 0 && !pass(pair.server, [&](std::string_view bytes) { from_server(pair, bytes); })) {
        close_pair(pair);
      }
    }
    if ((ends[1].revents & POLLIN) != 0) {
      const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) continue;
      const int server = socket_at(server_, ::connect);
      if (server < 0) {
        ::close(client);
      } else {
        pairs_.push_back({client, server, {}, false});
      }
    }
  }
}

}  // namespace runwarden::test
