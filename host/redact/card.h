// Card numbers (ISO/IEC 7812): 13 to 19 digits of a known issuer's range whose check digit is right (Luhn). Pure; any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace runwarden::redact {

// Where the card number that begins at `at` ends, or 0 if none does. Its digits stand together or in groups of 3 to 7, with one
// space or dash between, typographic ones too. `at` is a digit with no letter, digit, "+" or decimal point before it.
std::size_t card_end(std::string_view text, std::size_t at);

// The same for digits alone, as a JSON number has them.
bool is_card_number(std::string_view digits);

// Bytes of one space or dash that may stand between two groups of digits, or 0.
std::size_t separator_length(std::string_view text, std::size_t at);

}  // namespace runwarden::redact
