#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace runwarden::plugins {

/// Equal for texts that differ only in words with digits: attempt numbers, times, request ids. Linear.
[[nodiscard]] std::uint64_t hash_without_numbers(std::string_view text);

/// Equal for texts that differ only in fresh ids and times: words of letters and digits, times of day with seconds, and long numbers.
/// Linear.
[[nodiscard]] std::uint64_t hash_without_ids(std::string_view text);

/// Replaces a time of day ("18:12:38") with zeros, and the digits of a date before it, in a text that says more than the time. In a short
/// text only a time that opens it counts: elsewhere, it may be the answer. Returns `text` itself when it contains none, else a view of
/// `buffer`. Linear.
[[nodiscard]] std::string_view without_clock(std::string_view text, std::string& buffer);

/// The status line and the body of an HTTP response, without headers such as Date and ETag. Returns `text` itself when it is none, else a
/// view of `buffer`. Linear.
[[nodiscard]] std::string_view without_headers(std::string_view text, std::string& buffer);

}  // namespace runwarden::plugins
