// Network addresses in the configuration. Pure; any thread.
#pragma once

#include <string_view>

namespace runwarden::config {

// "127.0.0.1:8080", "[::1]:8080", "localhost:0": a numeric address (or localhost) and a port.
bool is_listen_address(std::string_view text);

// True if only this machine can reach the listen address.
bool is_loopback(std::string_view listen_address);

// True if a process cannot listen on both addresses. Port 0 never conflicts.
bool listen_alike(std::string_view one, std::string_view other);

// "10.0.0.7", "10.0.0.0/8", "fd00::/8".
bool is_address_block(std::string_view text);

// The same, or a host name.
bool is_peer(std::string_view text);

// Begins with http:// or https:// and contains no spaces or control characters.
bool is_http_url(std::string_view text);

}  // namespace runwarden::config
