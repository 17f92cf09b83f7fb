// Opens the listening sockets of a server: one per worker, all on the same address. Called at start on the main thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "http/unique_fd.h"

namespace runwarden::http {

struct Listeners {
  std::vector<UniqueFd> sockets;
  std::uint16_t port = 0;
};

// Fails if another process listens there already, even if both would share the port with SO_REUSEPORT.
Result<Listeners> open_listeners(const std::string& address, int count);

}  // namespace runwarden::http
