// How the parts of the service report events to the log.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace runwarden {

enum class LogLevel : std::uint8_t { debug, info, warn, error };

// Called from any thread.
using LogFunction = std::function<void(LogLevel level, std::string_view event, std::string_view text)>;

}  // namespace runwarden
