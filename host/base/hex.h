// Bytes as hexadecimal digits and back. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace runwarden {

// Two lower-case digits a byte.
std::string bytes_to_hex(std::string_view bytes);

// Nothing when a digit is missing, or is none.
std::optional<std::string> bytes_from_hex(std::string_view digits);

}  // namespace runwarden
