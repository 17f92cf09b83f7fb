// SHA-256 (FIPS 180-4), by OpenSSL. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace runwarden {

using Digest256 = std::array<std::uint8_t, 32>;

Digest256 sha256(std::string_view bytes);

// Lower-case hexadecimal.
std::string to_hex(const Digest256& digest);

}  // namespace runwarden
