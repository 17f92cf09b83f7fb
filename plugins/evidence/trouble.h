#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/lexicon.h"
#include "common/reading.h"
#include "evidence/outcome_words.h"

namespace runwarden::plugins {

/// True when a sentence of the message names one of the things and, without claiming anything, says that it is missing or went wrong
/// ("- tides.csv not found"), or contains a negation. Overwrites `scratch`. Linear, except for the few things.
[[nodiscard]] bool tells_trouble_with(std::string_view message, const std::vector<std::string_view>& things, const Lexicon& lexicon,
                                      Reading& scratch);

/// True when the failure says that things already are as the message reports: "invoice 88 is already paid" and "it has been paid". None of
/// the message's claims may be an action of the agent, and the failure must report each as done, unless both say "already".
[[nodiscard]] bool tells_what_failure_says(const Reading& message, const Reading& failure, const Lexicon& lexicon);

/// True when a program's output mentions no trouble although its exit status is not 0, as with a test that found nothing. `signs` are the
/// endings of words for trouble. Linear, except for the few signs.
[[nodiscard]] bool prints_no_trouble(std::string_view output, const std::vector<std::string>& signs, const Lexicon& lexicon,
                                     Reading& scratch);

/// What an output says of its call: without the texts of members that hold a record's content or what was before, {"subject": "Login
/// failed"}, and in prose without what is in double quotes. `output` itself when it is longer than 1 KiB, broken JSON, or a problem with a
/// number for its status; else a view of `buffer`. Any thread.
[[nodiscard]] std::string_view without_content(std::string_view output, const OutcomeWords& words, std::string& buffer);

/// True when a short output in any format mentions trouble or that nothing was found: "The page could not be loaded." False for a long one.
/// Linear.
[[nodiscard]] bool speaks_of_trouble(std::string_view output, const Lexicon& lexicon, Reading& scratch);

/// True when the text that was read has words for trouble, and `folded` has all of them, too: it tells no trouble of its own. Linear,
/// except for the few such words.
[[nodiscard]] bool names_trouble_of(std::string_view folded, const Reading& text);

/// True when the user interrupted the call.
[[nodiscard]] bool broken_off(std::string_view output);

}  // namespace runwarden::plugins
