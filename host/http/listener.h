// Opens the listening sockets of a server: one a worker, all on one address. Called at start, on the main thread.
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

// Fails if anybody listens there already, though both would share the port with SO_REUSEPORT.
Result<Listeners> open_listeners(const std::string& address, int count);

}  // namespace runwarden::http
