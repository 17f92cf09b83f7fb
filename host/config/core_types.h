// The YAML 1.2 core schema: what a plain scalar is, and how numbers, sizes and durations are read. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/yaml_tree.h"

namespace runwarden::config {

// Sets kind, boolean and number from text: null, true, 12, 0x1F, 0o17, 1.5e3, .inf, .nan as YAML 1.2 core has them, text else
// (so `yes`, `0777` as octal and 1:30 are nothing special).
void type_plain(Node& node);

// The decimal digits of a core integer of any length: "+007" is "7", "0x1F" is "31" (a hexadecimal or octal one beyond 64 bits
// is not taken for an integer in the first place).
std::string integer_digits(std::string_view text);

// A core integer that fits.
std::optional<std::int64_t> integer_value(std::string_view text);

// "8MiB", "64GiB", "10 kB", "4096": bytes.
std::optional<std::int64_t> size_bytes(std::string_view text);

// "250ms", "10s", "5m", "24h", "90d", "1h30m", "0": milliseconds.
std::optional<std::int64_t> duration_ms(std::string_view text);

}  // namespace runwarden::config
