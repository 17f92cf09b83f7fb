#include "ops/service_manager.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace runwarden::ops {
namespace {

std::optional<std::int64_t> number_from(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  std::int64_t value = 0;
  const char* end = text + std::strlen(text);
  const auto [at, fault] = std::from_chars(text, end, value);
  if (fault != std::errc() || at != end || value <= 0) return std::nullopt;
  return value;
}

// A line of the protocol must not contain line breaks.
std::string status_line(std::string_view text) {
  std::string line = "STATUS=" + std::string(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

std::int64_t monotonic_us() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

}  // namespace

ServiceManager::ServiceManager() {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || *path == '\0') return;
  if (!set_address(path)) {
    fault_ = std::string("NOTIFY_SOCKET: \"") + path +
             "\" is not the address of a local socket: expected an absolute path or @name of at most " +
             std::to_string(sizeof address_.sun_path - 1) + " bytes; the service manager gets no notifications";
    return;
  }
  socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) {
    fault_ = std::string("NOTIFY_SOCKET: cannot create a socket for notifications: ") + std::strerror(errno) +
             "; allow AF_UNIX (RestrictAddressFamilies=) and more descriptors (LimitNOFILE=)";
    return;
  }
  const auto watchdog_us = number_from("WATCHDOG_USEC");
  const auto pid = number_from("WATCHDOG_PID");
  if (watchdog_us && (!pid || *pid == ::getpid())) watchdog_ms_ = std::max<std::int64_t>(*watchdog_us / 1000, 1);
}

ServiceManager::~ServiceManager() {
  if (socket_ >= 0) ::close(socket_);
}

bool ServiceManager::set_address(std::string_view path) {
  if ((path.front() != '/' && path.front() != '@') || path.size() < 2 || path.size() >= sizeof address_.sun_path) return false;
  address_.sun_family = AF_UNIX;
  std::memcpy(address_.sun_path, path.data(), path.size());
  if (path.front() == '@') address_.sun_path[0] = '\0';  // an abstract socket name
  address_size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  return true;
}

void ServiceManager::send(const std::string& lines) const {
  if (socket_ < 0) return;
  // If the service manager does not listen, the service continues.
  while (::sendto(socket_, lines.data(), lines.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address_), address_size_) < 0 &&
         errno == EINTR) {
  }
}

void ServiceManager::ready(std::string_view status) const {
  send("READY=1\n" + status_line(status));
}

void ServiceManager::not_ready(std::string_view why) const {
  send(status_line(std::string("not ready: ") + std::string(why)));
}

void ServiceManager::reloading() const {
  send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(monotonic_us()) + "\nSTATUS=reloading the configuration");
}

void ServiceManager::stopping(std::int64_t within_ms) const {
  send("STOPPING=1\nEXTEND_TIMEOUT_USEC=" + std::to_string(within_ms * 1000) + "\nSTATUS=answering requests in flight");
}

void ServiceManager::alive() const {
  send("WATCHDOG=1");
}

}  // namespace runwarden::ops
