// Bytes as hexadecimal digits and back. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace runwarden {

// Two lower-case digits per byte.
std::string bytes_to_hex(std::string_view bytes);

// Empty if a digit is missing or invalid.
std::optional<std::string> bytes_from_hex(std::string_view digits);

}  // namespace runwarden
