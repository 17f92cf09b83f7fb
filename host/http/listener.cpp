#include "http/listener.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "http/address.h"

namespace runwarden::http {
namespace {

constexpr int kBacklog = 4096;  // the kernel lowers it to net.core.somaxconn

Error cannot_listen(const std::string& setting, const std::string& address, int fault) {
  std::string detail = setting + ": cannot listen on " + address + ": " + std::strerror(fault);
  if (fault == EADDRINUSE) {
    detail += "; another process (or a second runwarden) uses this port: stop it, or set another " + setting;
  } else if (fault == EADDRNOTAVAIL) {
    detail += "; this machine has no such address: set " + setting + " to one of its addresses";
  } else if (fault == EACCES) {
    detail += "; ports below 1024 need CAP_NET_BIND_SERVICE: set a higher port";
  }
  return {Code::unavailable, detail, {}, {}};
}

bool set_option(int fd, int level, int name) {
  const int on = 1;
  return setsockopt(fd, level, name, &on, sizeof on) == 0;
}

// The first socket binds and listens without SO_REUSEPORT, so that the kernel refuses it if another process listens. Only then does it
// enable the option for its siblings. Of two services that start at the same moment, only one gets past listen().
bool open_one(const ListenAddress& address, bool first, UniqueFd& out) {
  UniqueFd fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd || !set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR)) return false;
  if (address.storage.ss_family == AF_INET6 && !set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY)) return false;
  if (!first && !set_option(fd.get(), SOL_SOCKET, SO_REUSEPORT)) return false;
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.size) != 0) return false;
  if (listen(fd.get(), kBacklog) != 0) return false;
  if (first && !set_option(fd.get(), SOL_SOCKET, SO_REUSEPORT)) return false;
  out = std::move(fd);
  return true;
}

}  // namespace

Result<Listeners> open_listeners(const ServerSettings& settings, int count) {
  const std::string& text = settings.address;
  auto address = parse_listen_address(text);
  if (!address) return address.error();
  Listeners listeners;
  for (int i = 0; i < count; ++i) {
    UniqueFd fd;
    if (!open_one(*address, i == 0, fd)) return cannot_listen(settings.address_setting, text, errno);
    if (i == 0) {
      ListenAddress bound;
      bound.size = sizeof bound.storage;
      if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound.storage), &bound.size) != 0)
        return cannot_listen(settings.address_setting, text, errno);
      address->set_port(bound.port());
      listeners.port = bound.port();
    }
    listeners.sockets.push_back(std::move(fd));
  }
  return listeners;
}

}  // namespace runwarden::http
