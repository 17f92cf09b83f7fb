// Decides when to retry a failed request. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace runwarden::http_client {

constexpr std::int64_t kLongestRetryAfterMs = 24 * 3'600'000;

// When the next attempt is due after `attempts`; empty if that was the last. `chance`, in [0, 1), lengthens each delay by up to a fifth.
// A longer delay that the receiver asked for takes precedence.
std::optional<std::int64_t> next_attempt_ms(const std::vector<std::int64_t>& delays_ms, std::uint32_t attempts, double chance,
                                            std::optional<std::int64_t> retry_after_ms, std::int64_t now_ms);

// The value of Retry-After, seconds or a date (RFC 9110, section 10.2.3), as milliseconds from now, at most kLongestRetryAfterMs. Empty if
// it is neither.
std::optional<std::int64_t> read_retry_after(std::string_view text, std::int64_t now_ms);

}  // namespace runwarden::http_client
