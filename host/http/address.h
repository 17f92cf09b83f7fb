// Network addresses: listen addresses, peers and trusted proxies. Values; any thread.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/request_head.h"

namespace runwarden::http {

// An IPv6 address. IPv4 is stored in its mapped form (::ffff:a.b.c.d), so that both compare equal.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};
  bool operator==(const IpAddress&) const = default;
};

std::optional<IpAddress> parse_ip(std::string_view text);
IpAddress ip_of(const sockaddr_storage& address);
std::string ip_text(const IpAddress& ip);

// A socket address to bind: "127.0.0.1:8080", "[::1]:8080", "localhost:8080".
struct ListenAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  std::uint16_t port() const;
  void set_port(std::uint16_t port);
};
Result<ListenAddress> parse_listen_address(const std::string& text);

// The peers whose X-Forwarded-For is trusted.
class TrustedProxies {
 public:
  static Result<TrustedProxies> parse(const std::vector<std::string>& texts);

  bool holds(const IpAddress& ip) const;
  // The client of a request: if the peer is a trusted proxy, the last X-Forwarded-For entry that is not one, otherwise the peer.
  std::string client_of(const IpAddress& peer, const std::vector<Header>& headers) const;
  // Whether the client speaks HTTPS: the one X-Forwarded-Proto says https, if the peer is a trusted proxy.
  bool https_of(const IpAddress& peer, const std::vector<Header>& headers) const;

 private:
  struct Block {
    IpAddress base;
    int prefix_bits = 128;
  };
  std::vector<Block> blocks_;
};

}  // namespace runwarden::http
