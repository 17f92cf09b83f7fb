// The host and port of a Host field or a URL (RFC 9112, section 3.2; RFC 3986, section 3.2). Pure; any thread.
#pragma once

#include <string_view>

namespace runwarden::http {

// uri-host [":" port], without user information. An empty text is one: clients send it where their URL has no host.
// Stricter than the grammar where no real client goes: no comma, which two joined Host fields leave behind, no port over 65535, and no
// port without a host.
bool is_host_and_port(std::string_view text);

}  // namespace runwarden::http
