// Times as text: RFC 3339, read with any offset and written in UTC with milliseconds. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace runwarden {

// Milliseconds since 1970-01-01T00:00:00Z of an ISO 8601 / RFC 3339 date-time with `Z` or an offset. Years are 0000 to 9999, both as
// written and in UTC; fractions beyond milliseconds are truncated. Empty if the text is not a date-time or names a nonexistent day or hour.
// A leap second (:60) counts as the first second of the next minute.
std::optional<std::int64_t> parse_time(std::string_view text);

// "2026-11-20T15:00:00.000Z"; clamped to the years 0000 to 9999.
std::string format_time(std::int64_t ms);

// An approximate duration: "100.0 days", "3.5 hours", "12 seconds".
std::string about_duration(std::int64_t ms);

}  // namespace runwarden
