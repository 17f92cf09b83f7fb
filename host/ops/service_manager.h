// Notifies the service manager (systemd's notify protocol) when the service is ready, reloads or stops, and that it is alive. Does nothing
// without a service manager.
//
// Any thread. Opens the socket at construction and keeps it, so that notifications work when the process is out of descriptors.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace runwarden::ops {

class ServiceManager {
 public:
  // Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID from the environment.
  ServiceManager();
  ~ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  void ready(std::string_view status) const;
  void not_ready(std::string_view why) const;
  // A reload begins; ready() ends it.
  void reloading() const;
  // The process may take this long to end.
  void stopping(std::int64_t within_ms) const;
  void alive() const;

  // The manager restarts the process if alive() is not called for this long.
  std::optional<std::int64_t> watchdog_ms() const { return watchdog_ms_; }
  // Why notifications cannot be sent although NOTIFY_SOCKET is set; empty if they can.
  const std::string& fault() const { return fault_; }

 private:
  bool set_address(std::string_view path);
  void send(const std::string& lines) const;

  int socket_ = -1;  // -1: no service manager
  sockaddr_un address_{};
  socklen_t address_size_ = 0;
  std::optional<std::int64_t> watchdog_ms_;
  std::string fault_;
};

}  // namespace runwarden::ops
