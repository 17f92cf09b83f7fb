#include "config/addresses.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "base/ascii.h"

namespace runwarden::config {
namespace {

std::optional<unsigned> number_up_to(std::string_view text, unsigned limit) {
  unsigned value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size() || value > limit) return std::nullopt;
  return value;
}

bool is_ipv4(std::string_view text) {
  in_addr address;
  return ::inet_pton(AF_INET, std::string(text).c_str(), &address) == 1;
}

bool is_ipv6(std::string_view text) {
  in6_addr address;
  return ::inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1;
}

bool is_bracketed(std::string_view host) {
  return host.size() > 2 && host.front() == '[' && host.back() == ']';
}

}  // namespace

bool is_listen_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || !number_up_to(text.substr(colon + 1), 65535)) return false;
  const std::string_view host = text.substr(0, colon);
  if (is_bracketed(host)) return is_ipv6(host.substr(1, host.size() - 2));
  return host == "localhost" || is_ipv4(host);
}

bool is_loopback(std::string_view listen_address) {
  const std::string_view host = listen_address.substr(0, listen_address.rfind(':'));
  return host == "localhost" || host.starts_with("127.") || host == "[::1]" || host == "[0:0:0:0:0:0:0:1]";
}

bool listen_alike(std::string_view one, std::string_view other) {
  const auto host_of = [](std::string_view address) {
    const std::string_view host = address.substr(0, address.rfind(':'));
    return host == "localhost" ? std::string_view("127.0.0.1") : host;
  };
  const auto port_of = [](std::string_view address) { return number_up_to(address.substr(address.rfind(':') + 1), 65535); };
  if (!is_listen_address(one) || !is_listen_address(other) || port_of(one) == 0u || port_of(one) != port_of(other)) return false;
  return host_of(one) == host_of(other) || host_of(one) == "0.0.0.0" || host_of(other) == "0.0.0.0";
}

bool is_address_block(std::string_view text) {
  const auto slash = text.find('/');
  const std::string_view address = text.substr(0, slash);
  const bool ipv4 = is_ipv4(address);
  if (!ipv4 && !is_ipv6(address)) return false;
  return slash == std::string_view::npos || number_up_to(text.substr(slash + 1), ipv4 ? 32 : 128).has_value();
}

bool is_peer(std::string_view text) {
  const auto of_name = [](char c) { return ascii::is_alphanumeric(c) || c == '.' || c == '-' || c == '_'; };
  return is_address_block(text) || (!text.empty() && std::all_of(text.begin(), text.end(), of_name));
}

bool is_http_url(std::string_view text) {
  const bool begins = text.starts_with("https://") || text.starts_with("http://");
  return begins && std::none_of(text.begin(), text.end(), [](unsigned char c) { return c <= 0x20 || c >= 0x7f; });
}

}  // namespace runwarden::config
