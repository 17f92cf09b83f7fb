// The head of a request: its method, target and header fields. Values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runwarden::http {

struct Header {
  std::string name;  // lower case
  std::string value;
};

// The request line and header fields, before any byte of the body is read.
struct RequestHead {
  std::string method;  // as sent, case-sensitive (RFC 9110)
  std::string path;    // raw: before '?', still percent-encoded
  std::string query;   // raw: after '?'
  std::vector<Header> headers;
  std::string request_id;  // the client's if it is 1 to 128 visible ASCII characters, otherwise generated
  std::string client;      // address; from X-Forwarded-For only where the peer is a trusted proxy
  bool https = false;      // as the client sees it: a trusted proxy's X-Forwarded-Proto says so
  bool has_body = false;
  std::int64_t started_ns = 0;  // monotonic, when its first byte was read

  // The value of the first field of that name (lower case); null if there is none.
  const std::string* header(std::string_view name) const;
  std::size_t count(std::string_view name) const;
};

// The value of the only field of that name (lower case) among the whole lines of a head that could not be parsed; nothing if it was folded.
std::optional<std::string> only_field(std::string_view unparsed_head, std::string_view name);

}  // namespace runwarden::http
