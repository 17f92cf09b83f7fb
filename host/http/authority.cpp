#include "http/authority.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>

#include "base/ascii.h"

namespace runwarden::http {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";

// unreserved / sub-delims (RFC 3986, section 2), without the comma.
bool is_name_character(char c) {
  return ascii::is_alphanumeric(c) || std::string_view("-._~!$&'()*+;=").find(c) != std::string_view::npos;
}

bool all_hex(std::string_view text) {
  return text.find_first_not_of(kHexDigits) == std::string_view::npos;
}

// Also matches every IPv4 address; the two are not distinguished here.
bool is_registered_name(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_name_character(text[i])) continue;
    if (text[i] != '%' || text.size() - i < 3 || !all_hex(text.substr(i + 1, 2))) return false;
    i += 2;
  }
  return true;
}

// "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )
bool is_future_address(std::string_view text) {
  if (text.empty() || (text[0] != 'v' && text[0] != 'V')) return false;
  const auto dot = text.find('.');
  if (dot == std::string_view::npos || dot < 2 || dot + 1 == text.size() || !all_hex(text.substr(1, dot - 1))) return false;
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(dot) + 1, text.end(),
                     [](char c) { return c == ':' || is_name_character(c); });
}

bool is_ipv6_address(std::string_view text) {
  in6_addr address{};
  return inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1;
}

bool is_port(std::string_view text) {
  if (text.empty()) return true;
  std::uint16_t port = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), port);
  return fault == std::errc() && end == text.data() + text.size();
}

}  // namespace

bool is_host_and_port(std::string_view text) {
  std::string_view port;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return false;
    const std::string_view literal = text.substr(1, close - 1);
    if (!is_ipv6_address(literal) && !is_future_address(literal)) return false;
    port = text.substr(close + 1);
  } else {
    const auto colon = std::min(text.find(':'), text.size());
    if (!is_registered_name(text.substr(0, colon))) return false;
    port = text.substr(colon);
    if (colon == 0 && !port.empty()) return false;
  }
  return port.empty() || (port.front() == ':' && is_port(port.substr(1)));
}

}  // namespace runwarden::http
