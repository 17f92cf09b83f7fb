// Network addresses as the configuration writes them. Pure; any thread.
#pragma once

#include <string_view>

namespace runwarden::config {

// "127.0.0.1:8080", "[::1]:8080", "localhost:0": a numeric address (or localhost) and a port.
bool is_listen_address(std::string_view text);

// Of a listen address: only this machine can reach it.
bool is_loopback(std::string_view listen_address);

// Of two listen addresses: only one of them can be listened at. Port 0 is a free one for each.
bool listen_alike(std::string_view one, std::string_view other);

// "10.0.0.7", "10.0.0.0/8", "fd00::/8".
bool is_address_block(std::string_view text);

}  // namespace runwarden::config
