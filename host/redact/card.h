// Card numbers (ISO/IEC 7812): 13 to 19 digits of a known issuer's range whose check digit is right (Luhn). Pure; any thread.
//
// All texts here are normal ones (redact/normal_text.h): digits, spaces, dashes and line ends are ASCII.
#pragma once

#include <cstddef>
#include <string_view>

namespace runwarden::redact {

// Where the card number that begins at `at` ends, or 0 if none does. `at` is a digit with no letter, digit or decimal point before it.
//
// Its digits stand together, in groups of 3 to 7 with one space or dash between, or in the groups that are printed on cards (4-4-4-4,
// 4-6-5, 4-6-4, 4-4-4-4-3) with one dot, slash, underscore, plus sign or line end between. Of a longer list of such groups none is one.
std::size_t card_end(std::string_view text, std::size_t at);

// Whether a JSON number is one, also as 4111111111111111.0 or 4.111111111111111e15.
bool is_card_number(std::string_view number);

// Whether one space or dash stands there.
bool is_separator(std::string_view text, std::size_t at);

}  // namespace runwarden::redact
