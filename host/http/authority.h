// The host and port of a Host field or a URL (RFC 9112, section 3.2; RFC 3986, section 3.2). Pure; any thread.
#pragma once

#include <string_view>

namespace runwarden::http {

// True for uri-host [":" port] without user information, and for empty text, which clients send if their URL has no host. Stricter than the
// grammar: no comma (which joined Host fields contain), no port above 65535, no port without a host.
bool is_host_and_port(std::string_view text);

}  // namespace runwarden::http
