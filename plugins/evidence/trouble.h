#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/lexicon.h"
#include "common/reading.h"

namespace runwarden::plugins {

/// True when a sentence of the message names one of the things and says that it is missing or went wrong ("- tides.csv not found"), or
/// denies something of it, without claiming anything. `scratch` is overwritten. Linear, except for the few things.
[[nodiscard]] bool tells_trouble_with(std::string_view message, const std::vector<std::string_view>& things, const Lexicon& lexicon,
                                      Reading& scratch);

/// True when what the failure says is that things are so already as the message tells them: "invoice 88 is already paid" and "it has been
/// paid". Each deed that the message tells, none of them the agent's, must be one that the failure tells as done, or both say "already".
[[nodiscard]] bool tells_what_failure_says(const Reading& message, const Reading& failure, const Lexicon& lexicon);

/// True when nothing in what a program printed tells of trouble, though it ended with a status that is not 0: a test that found nothing.
/// `signs` are the endings of words that do. Linear, except for the few signs.
[[nodiscard]] bool prints_no_trouble(std::string_view output, const std::vector<std::string>& signs, const Lexicon& lexicon,
                                     Reading& scratch);

/// True when a short output, whatever its form, speaks of trouble or of nothing found: "The page could not be loaded." False for a long one.
/// Linear.
[[nodiscard]] bool speaks_of_trouble(std::string_view output, const Lexicon& lexicon, Reading& scratch);

/// True when a call ended because its user broke it off.
[[nodiscard]] bool broken_off(std::string_view output);

}  // namespace runwarden::plugins
