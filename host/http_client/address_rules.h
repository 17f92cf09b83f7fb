// Which URLs may be asked for, and which addresses connected to: a webhook must not reach what only this host can. Immutable; any
// thread.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace runwarden::http_client {

// IPv4 as ::ffff:a.b.c.d.
using IpBytes = std::array<std::uint8_t, 16>;
std::optional<IpBytes> parse_ip(std::string_view text);

// Loopback, private, link-local, shared, multicast, documentation, reserved and the like, and IPv4 addresses of these inside IPv6 ones.
bool is_special(const IpBytes& ip);

class AddressRules {
 public:
  // Which ports a URL may name: those above 1023, 443 and, with http, 80; or any, where who names the URL is trusted.
  enum class Ports : std::uint8_t { usual, any };
  // `allow`: addresses, CIDR blocks or host names that are open all the same. The Error names the one that is none of these.
  static Result<AddressRules> make(const std::vector<std::string>& allow, bool allow_http, Ports ports = Ports::usual);

  bool allows_http() const { return allow_http_; }
  bool allows_any_port() const { return ports_ == Ports::any; }
  // Whether a connection for that host may be made to that address.
  bool allows(std::string_view host, const sockaddr& address) const;

 private:
  struct Block {
    IpBytes base{};
    unsigned bits = 128;
  };

  std::vector<Block> blocks_;
  std::vector<std::string> hosts_;  // lower case
  bool allow_http_ = false;
  Ports ports_ = Ports::usual;
};

struct CheckedUrl {
  std::string host;  // lower case, without brackets
  std::optional<std::string> fault;  // why it is refused; nothing: it is taken
};
// The URL by itself; its addresses are judged when they are connected to.
CheckedUrl check_url(const std::string& url, const AddressRules& rules);

}  // namespace runwarden::http_client
