// The signals by which a service is controlled: SIGTERM and SIGINT stop it, SIGHUP has it read its configuration again. [main]
#pragma once

#include <cstdint>
#include <optional>

namespace runwarden::ops {

enum class Signal : std::uint8_t { stop, reload };

// From then on only wait_for_signal() takes them, and a write to a closed connection is an error instead of a signal. Call before other
// threads start.
void block_signals();

// Nothing: none came within `timeout_ms`, or the wait was interrupted.
std::optional<Signal> wait_for_signal(std::int64_t timeout_ms);
std::optional<Signal> wait_for_signal();

}  // namespace runwarden::ops
