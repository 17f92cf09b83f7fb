// Opens the listening sockets of a server: one per worker, all on the same address. Called at start on the main thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "http/server.h"
#include "http/unique_fd.h"

namespace runwarden::http {

struct Listeners {
  std::vector<UniqueFd> sockets;
  std::uint16_t port = 0;
};

// Listens at settings.address. Fails if another process listens there already, even if both would share the port with SO_REUSEPORT.
Result<Listeners> open_listeners(const ServerSettings& settings, int count);

}  // namespace runwarden::http
