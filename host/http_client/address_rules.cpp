#include "http_client/address_rules.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

#include "base/ascii.h"

namespace runwarden::http_client {
namespace {

constexpr std::size_t kLongestUrl = 2048;
constexpr unsigned kMappedBits = 96;
constexpr int kFirstFreePort = 1024;

struct Range {
  const char* base;
  unsigned bits;
};

// IANA's registry of special-purpose IPv4 addresses, multicast and the reserved block.
constexpr Range kSpecialIpv4[] = {{"0.0.0.0", 8},       {"10.0.0.0", 8},     {"100.64.0.0", 10},  {"127.0.0.0", 8},    {"169.254.0.0", 16},
                                  {"172.16.0.0", 12},   {"192.0.0.0", 24},   {"192.0.2.0", 24},   {"192.88.99.0", 24}, {"192.168.0.0", 16},
                                  {"198.18.0.0", 15},   {"198.51.100.0", 24}, {"203.0.113.0", 24}, {"224.0.0.0", 4},    {"240.0.0.0", 4}};

// The blocks of 2000::/3 that hold no hosts on the internet. For Teredo and 6to4, the IPv4 addresses inside decide.
constexpr Range kSpecialIpv6[] = {{"2001::", 23}, {"2001:db8::", 32}, {"3fff::", 20}};

bool in_block(const IpBytes& ip, const IpBytes& base, unsigned bits) {
  const unsigned whole = bits / 8;
  if (!std::equal(ip.begin(), ip.begin() + whole, base.begin())) return false;
  if (bits % 8 == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xFF << (8 - bits % 8));
  return (ip[whole] & mask) == (base[whole] & mask);
}

bool in_block(const IpBytes& ip, const Range& range) {
  const bool ipv4 = std::strchr(range.base, ':') == nullptr;
  return in_block(ip, *parse_ip(range.base), range.bits + (ipv4 ? kMappedBits : 0));
}

IpBytes mapped(const std::uint8_t* ipv4) {
  IpBytes ip{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  std::copy_n(ipv4, 4, ip.begin() + 12);
  return ip;
}

bool is_special_ipv4(const IpBytes& ip) {
  return std::any_of(std::begin(kSpecialIpv4), std::end(kSpecialIpv4), [&](const Range& range) { return in_block(ip, range); });
}

std::string folded(std::string_view name) {
  std::string text = ascii::to_lower(name);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

bool is_host_name(std::string_view text) {
  const auto fits = [](char c) { return ascii::is_lower(c) || ascii::is_digit(c) || c == '-' || c == '.' || c == '_'; };
  return !text.empty() && text.size() <= 253 && std::all_of(text.begin(), text.end(), fits);
}

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

std::string part(CURLU* url, CURLUPart which) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, 0) != CURLUE_OK || text == nullptr) return {};
  std::string copy = text;
  curl_free(text);
  return copy;
}

using ParsedUrl = std::unique_ptr<CURLU, FreeUrl>;

// Null if it is not a URL.
ParsedUrl parse(const std::string& url) {
  ParsedUrl parsed(curl_url());
  if (parsed && curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) parsed.reset();
  return parsed;
}

// "10.0.0.1." and "0x7f.1.", as the URL standard tells addresses from names: by the last label. libcurl takes these for names, so no rule
// for addresses would see them.
bool is_address_with_dot(std::string_view host) {
  if (!host.ends_with('.')) return false;
  host.remove_suffix(1);
  const std::string_view last = host.substr(host.rfind('.') + 1);
  const bool is_hex = last.starts_with("0x") || last.starts_with("0X");
  return is_hex ? last.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos : ascii::is_number(last);
}

// libcurl takes one to three slashes after the scheme, and reads what follows as the host.
bool has_host_after_two_slashes(std::string_view url) {
  const std::string_view behind = url.substr(std::min(url.find(':'), url.size()));
  return behind.starts_with("://") && !behind.starts_with(":///");
}

// What stands between the scheme and the path. An '@' in it ends user info, which may be empty; then libcurl tells nothing of it.
std::string_view authority_of(std::string_view url) {
  const std::size_t slashes = url.find("://");
  if (slashes == std::string_view::npos) return {};
  url.remove_prefix(slashes + 3);
  return url.substr(0, url.find_first_of("/?#"));
}

std::string without_dot(CURLU* url, std::string host) {
  host.pop_back();
  curl_url_set(url, CURLUPART_HOST, host.c_str(), 0);
  return part(url, CURLUPART_URL);
}

std::optional<std::string> fault_of(CURLU* url, const std::string& text, const AddressRules& rules) {
  const std::string scheme = part(url, CURLUPART_SCHEME);
  if (scheme != "https" && !(scheme == "http" && rules.allows_http())) {
    return rules.allows_http() ? "must begin with https:// or http://"
                               : "must begin with https:// (webhooks.allow_http also allows http://)";
  }
  if (authority_of(text).find('@') != std::string_view::npos) return "must not contain a user name or password";
  if (text.find('#') != std::string::npos) return "must not have a fragment";
  const std::string port_text = part(url, CURLUPART_PORT);
  if (port_text.empty() || rules.allows_any_port()) return std::nullopt;
  const int port = std::atoi(port_text.c_str());
  const bool good = port >= kFirstFreePort || port == 443 || (port == 80 && rules.allows_http());
  if (good) return std::nullopt;
  const char* const allowed =
      rules.allows_http() ? "the only allowed ports below 1024 are 80 and 443" : "the only allowed port below 1024 is 443";
  return "must not name port " + port_text + "; " + allowed;
}

}  // namespace

std::optional<IpBytes> parse_ip(std::string_view text) {
  const std::string copy(text);
  in_addr ipv4{};
  if (::inet_pton(AF_INET, copy.c_str(), &ipv4) == 1) return mapped(reinterpret_cast<const std::uint8_t*>(&ipv4));
  IpBytes ip{};
  if (::inet_pton(AF_INET6, copy.c_str(), ip.data()) == 1) return ip;
  return std::nullopt;
}

bool is_special(const IpBytes& ip) {
  if (in_block(ip, {"::ffff:0:0", kMappedBits})) return is_special_ipv4(ip);
  if (in_block(ip, {"64:ff9b::", kMappedBits})) return is_special_ipv4(mapped(&ip[12]));
  if (in_block(ip, {"2002::", 16})) return is_special_ipv4(mapped(&ip[2]));
  if (in_block(ip, {"2001::", 32})) {  // Teredo (RFC 4380): the server, and the client with its bits inverted
    const std::uint8_t client[4] = {static_cast<std::uint8_t>(~ip[12]), static_cast<std::uint8_t>(~ip[13]),
                                    static_cast<std::uint8_t>(~ip[14]), static_cast<std::uint8_t>(~ip[15])};
    return is_special_ipv4(mapped(&ip[4])) || is_special_ipv4(mapped(client));
  }
  if (!in_block(ip, {"2000::", 3})) return true;
  return std::any_of(std::begin(kSpecialIpv6), std::end(kSpecialIpv6), [&](const Range& range) { return in_block(ip, range); });
}

Result<AddressRules> AddressRules::make(const std::vector<std::string>& allow, bool allow_http, Ports ports) {
  AddressRules rules;
  rules.allow_http_ = allow_http;
  rules.ports_ = ports;
  for (const std::string& text : allow) {
    const auto slash = std::min(text.find('/'), text.size());
    const auto base = parse_ip(std::string_view(text).substr(0, slash));
    if (!base) {
      if (!is_host_name(folded(text))) {
        return Error{
            Code::validation_failed, "expected addresses, blocks such as 10.1.0.0/16, or host names, got \"" + text + "\"", {}, {}};
      }
      rules.hosts_.push_back(folded(text));
      continue;
    }
    const unsigned offset = text.find(':') == std::string::npos ? kMappedBits : 0;
    unsigned bits = 128 - offset;
    if (slash < text.size()) {
      const char* const end = text.data() + text.size();
      const auto read = std::from_chars(text.data() + slash + 1, end, bits);
      if (read.ec != std::errc() || read.ptr != end || bits > 128 - offset) {
        return Error{Code::validation_failed, "expected a block such as 10.1.0.0/16, got \"" + text + "\"", {}, {}};
      }
    }
    rules.blocks_.push_back({*base, bits + offset});
  }
  return rules;
}

bool AddressRules::allows(std::string_view host, const sockaddr& address) const {
  if (std::find(hosts_.begin(), hosts_.end(), folded(std::string(host))) != hosts_.end()) return true;
  IpBytes ip{};
  if (address.sa_family == AF_INET) {
    ip = mapped(reinterpret_cast<const std::uint8_t*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr));
  } else if (address.sa_family == AF_INET6) {
    std::memcpy(ip.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, ip.size());
  } else {
    return false;
  }
  if (!is_special(ip)) return true;
  return std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& block) { return in_block(ip, block.base, block.bits); });
}

CheckedUrl check_url(const std::string& url, const AddressRules& rules) {
  const bool odd = std::any_of(url.begin(), url.end(), [](unsigned char c) { return c <= 0x20 || c >= 0x7F; });
  if (url.empty() || url.size() > kLongestUrl || odd) {
    return {{}, "must be a URL of at most " + std::to_string(kLongestUrl) + " printable ASCII characters", {}};
  }
  // Browsers end the host at a backslash; libcurl takes it for part of a user name.
  if (url.find('\\') != std::string::npos)
    return {{}, "must not contain a backslash; write \"/\" in a path, and %5C for the character itself", {}};
  std::string text = url;
  ParsedUrl parsed = parse(text);
  if (parsed && is_address_with_dot(part(parsed.get(), CURLUPART_HOST))) {
    text = without_dot(parsed.get(), part(parsed.get(), CURLUPART_HOST));
    parsed = parse(text);
  }
  if (!parsed) return {{}, "must be a URL such as https://hooks.example.com/runwarden", {}};
  std::string host = folded(part(parsed.get(), CURLUPART_HOST));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty() || !has_host_after_two_slashes(url)) return {{}, "must name a host after \"//\"", {}};
  return {std::move(host), fault_of(parsed.get(), text, rules), std::move(text)};
}

}  // namespace runwarden::http_client
