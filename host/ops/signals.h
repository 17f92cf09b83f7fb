// The signals that control the service: SIGTERM and SIGINT stop it, SIGHUP makes it read its configuration again. [main]
#pragma once

#include <cstdint>
#include <optional>

namespace runwarden::ops {

enum class Signal : std::uint8_t { stop, reload };

// From then on only wait_for_signal() receives them, and a write to a closed connection is an error instead of a signal. Call before other
// threads start.
void block_signals();

// Returns nothing if no signal came within `timeout_ms` or the wait was interrupted.
std::optional<Signal> wait_for_signal(std::int64_t timeout_ms);
std::optional<Signal> wait_for_signal();
// True: SIGTERM or SIGINT came. Returns early after wake(). A SIGHUP keeps waiting for wait_for_signal().
bool wait_for_stop(std::int64_t timeout_ms);
// Ends a wait_for_stop(), also a later one. Any thread.
void wake();

}  // namespace runwarden::ops
