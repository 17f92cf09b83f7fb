// The service manager that started the process, as systemd's notify protocol has it: it is told when the service is ready,
// reads its configuration anew or stops, and hears from it for as long as it makes progress. Without one, nothing is said.
//
// Any thread. The socket is made at the start and kept, so that a process without descriptors to spare can still speak.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace runwarden::app {

class ServiceManager {
 public:
  // What the environment says of it: NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
  ServiceManager();
  ~ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  void ready(std::string_view status) const;
  void not_ready(std::string_view why) const;
  // The service reads its configuration anew; ready() ends it.
  void reloading() const;
  // It may take this long until the process has ended.
  void stopping(std::int64_t within_ms) const;
  void alive() const;

  // The process is ended when alive() is not called for so long.
  std::optional<std::int64_t> watchdog_ms() const { return watchdog_ms_; }
  // Why nobody can be told though somebody asked to be; empty when all is well.
  const std::string& fault() const { return fault_; }

 private:
  bool set_address(std::string_view path);
  void say(const std::string& lines) const;

  int socket_ = -1;  // none: nobody to tell
  sockaddr_un address_{};
  socklen_t address_size_ = 0;
  std::optional<std::int64_t> watchdog_ms_;
  std::string fault_;
};

}  // namespace runwarden::app
