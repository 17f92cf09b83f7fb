// The YAML 1.2 core schema: types of plain scalars, and parsing of numbers, sizes and durations. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/yaml_tree.h"

namespace runwarden::config {

// Sets kind, boolean and number from text: null, true, 12, 0x1F, 0o17, 1.5e3, .inf, .nan by YAML 1.2 core, and text otherwise
// (so `yes`, octal `0777` and 1:30 have no special meaning).
void type_plain(Node& node);

// The decimal digits of a core integer of any length: "+007" is "7", "0x1F" is "31" (a hexadecimal or octal number beyond 64 bits
// is not typed as an integer).
std::string integer_digits(std::string_view text);

// A core integer that fits the result.
std::optional<std::int64_t> integer_value(std::string_view text);

// "8MiB", "64GiB", "10 kB", "4096": bytes.
std::optional<std::int64_t> size_bytes(std::string_view text);

// "250ms", "10s", "5m", "24h", "90d", "1h30m", "0": milliseconds.
std::optional<std::int64_t> duration_ms(std::string_view text);

}  // namespace runwarden::config
