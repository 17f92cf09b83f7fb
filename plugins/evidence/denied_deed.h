#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/lexicon.h"
#include "common/run_view.h"
#include "evidence/outcome_words.h"

namespace runwarden::plugins {

/// True when the output of a call that is meant to change something says that it did not: in a member at the first level of an object, or
/// of the first object in a list, or, in plain words, in the objects within it, and no such member says that it did. Examples: `"sent":
/// false` from a tool that sends,
/// `"accepted": false` from any tool, `"changed": 0`, `"statusCode": 429`, `"result": "REJECTED"` from a tool that does not reject,
/// `"L3": "download failed"` unless the call's input says so itself. `groups` are the groups of the tool's verbs. Linear; any thread.
[[nodiscard]] bool denies_deed(const StepView& call, std::span<const std::uint16_t> groups, const OutcomeWords& words,
                               const Lexicon& lexicon);

/// True when the answer of a call that is meant to change something has a member named like an argument, at the first level of an object,
/// with another value: 95 was requested as the price and 89 came back. Compares only booleans, numbers and days, because texts may be
/// spelled differently. Numbers and days may be there to change, so they count only when the message `told` states the requested value.
/// Linear; any thread.
[[nodiscard]] bool answers_otherwise(std::string_view input, std::string_view output, std::string_view told, const OutcomeWords& words);

/// True when the answer of a call that is meant to change something has another value than was asked for in a member named like an argument
/// or in the tool's name: {"roaming_enabled": false} after {"enabled": true}. Linear; any thread.
[[nodiscard]] bool shows_other_value(const StepView& call);

/// True when an answer is the record `before` that a look-up had returned: nearly all members of that, each as it was. Members of objects
/// within it are not compared one by one, and new ones that are empty do not count. Linear; any thread.
[[nodiscard]] bool is_record_before(std::string_view output, std::string_view before);

/// True when such an answer has null or nothing in a member named like an argument whose value the message `told` states. Linear; any
/// thread.
[[nodiscard]] bool leaves_empty(std::string_view input, std::string_view output, std::string_view told, const Lexicon& lexicon);

/// True for an answer whose first level says that the call was taken, and gives a reference: {"accepted": true, "reading_id": "L-20933"}.
/// A reference is a text without blanks, with a digit, that the call was not given. Linear; any thread.
[[nodiscard]] bool gives_reference(const StepView& call, const OutcomeWords& words);

/// True for an answer that lists an error at the first level, whatever else it counts as done, {"modified": 4, "errors": [...]}, or that
/// counts fewer as done than were asked for: {"requested": 3, "moved": 2}. Linear; any thread.
[[nodiscard]] bool was_done_in_part(std::string_view output, const OutcomeWords& words, const Lexicon& lexicon);

}  // namespace runwarden::plugins
