// A run's text as shown to a model: each line marked, and the middle cut if it is too long. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace runwarden::opinion {

constexpr std::string_view kLineMark = "| ";       // begins every line of a text but the first
constexpr std::string_view kCutBegin = "[\u2026";  // "[…1204 characters left out…]"
constexpr std::string_view kCutEnd = " characters left out\u2026]";
constexpr std::string_view kEmptyText = "(empty text)";
constexpr std::size_t kCutMarkSixths = 150;  // maximum for the mark and the spaces around it

// The size of append_marked()'s output for the whole text, in sixths of a token.
std::size_t marked_sixths(std::string_view text);

// Appends the text within `most_sixths`: whole, or its beginning and end with a mark between them. Appends only the mark if there is no
// room for more. Returns whether the text was cut.
bool append_marked(std::string& out, std::string_view text, std::size_t most_sixths);

// The length of the line break at `at`, or 0: \n, \r, \r\n, \v, \f, U+0085, U+2028, U+2029.
std::size_t line_break_at(std::string_view text, std::size_t at);

}  // namespace runwarden::opinion
