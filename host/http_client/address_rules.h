// Decides which URLs may be requested and which addresses may be connected to: a webhook must not reach what only this host can reach.
// Immutable; any thread.
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

// True for loopback, private, link-local, shared, multicast, documentation, reserved and similar addresses, also for IPv6 addresses that
// contain such an IPv4 address.
bool is_special(const IpBytes& ip);

class AddressRules {
 public:
  // The ports that a URL may name: those above 1023, 443 and, with http, 80; or any, if the source of the URL is trusted.
  enum class Ports : std::uint8_t { usual, any };
  // `allow`: addresses, CIDR blocks or host names that are allowed although they are special. The Error quotes an entry that is none of
  // these.
  static Result<AddressRules> make(const std::vector<std::string>& allow, bool allow_http, Ports ports = Ports::usual);

  bool allows_http() const { return allow_http_; }
  bool allows_any_port() const { return ports_ == Ports::any; }
  // True if a connection for that host may be made to that address.
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
  std::optional<std::string> fault;  // why it is refused; empty: it is accepted
  std::string url;                   // to request: without a dot after an address
};
// Checks only the URL. Its addresses are checked on connect.
CheckedUrl check_url(const std::string& url, const AddressRules& rules);

}  // namespace runwarden::http_client
