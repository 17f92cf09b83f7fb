// Network addresses: where to listen, who the peer is, and which proxies may speak for somebody else. Values; any thread.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/server.h"

namespace runwarden::http {

// An IPv6 address; IPv4 is kept in its mapped form (::ffff:a.b.c.d), so that both compare alike.
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

// The peers whose X-Forwarded-For is believed.
class TrustedProxies {
 public:
  static Result<TrustedProxies> parse(const std::vector<std::string>& texts);

  bool holds(const IpAddress& ip) const;
  // The client a request came from: the last X-Forwarded-For entry that is no trusted proxy, if the peer is one.
  std::string client_of(const IpAddress& peer, const std::vector<Header>& headers) const;

 private:
  struct Block {
    IpAddress base;
    int prefix_bits = 128;
  };
  std::vector<Block> blocks_;
};

}  // namespace runwarden::http
