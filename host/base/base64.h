// Bytes as Base64 (RFC 4648) and back. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace runwarden {

// Section 4, padded.
std::string bytes_to_base64(std::string_view bytes);

// Section 5, for URLs, without padding.
std::string bytes_to_base64url(std::string_view bytes);

struct FromBase64 {
  std::string bytes;
  std::size_t read = 0;  // characters before the first that is not a digit; padding is not a digit
};

// Digits of either section.
FromBase64 bytes_from_base64(std::string_view text);

}  // namespace runwarden
