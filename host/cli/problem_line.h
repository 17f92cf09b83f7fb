// Formats a fault of one run as a JSON object with RFC 9457 members, in place of the answer. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace runwarden::cli {

// `line` 0: the file as a whole.
std::string problem_line(const Error& error, const std::string& file, std::uint64_t line);

}  // namespace runwarden::cli
