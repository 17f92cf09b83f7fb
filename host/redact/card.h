// Recognizes card numbers (ISO/IEC 7812): 13 to 19 digits in a known issuer's range with a valid check digit (Luhn). Pure; any thread.
//
// The text must be normalized (redact/normal_text.h), so that digits, spaces, dashes and line ends are ASCII.
#pragma once

#include <cstddef>
#include <string_view>

namespace runwarden::redact {

// The end of the card number that begins at `at`, or 0 if there is none. `at` must be a digit that does not follow a letter, a digit or a
// decimal point.
//
// Digits may be adjacent, in groups of 3 to 7 separated by one space or dash, or in groups as printed on cards (4-4-4-4, 4-6-5, 4-6-4,
// 4-4-4-4-3) separated by one dot, slash, underscore, plus sign or line end. Groups inside a longer list of groups do not count.
std::size_t card_end(std::string_view text, std::size_t at);

// True for a JSON number that is a card number, also as 4111111111111111.0 or 4.111111111111111e15.
bool is_card_number(std::string_view number);

// True if there is exactly one space or dash at `at`.
bool is_separator(std::string_view text, std::size_t at);

}  // namespace runwarden::redact
