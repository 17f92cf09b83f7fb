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

/// True when the output of a call that is to change something says by a member of its own, at the first level of an object or of the first
/// one of a list, that it did not: `"sent": false` from a tool that sends, `"accepted": false` from any, `"changed": 0`, `"statusCode":
/// 429`, `"result": "REJECTED"` from one that is not there to reject, `"L3": "download failed"` unless the call itself said so; and no
/// member that it did. `groups` are of the tool's verbs. Linear; any thread.
[[nodiscard]] bool denies_deed(const StepView& call, std::span<const std::uint16_t> groups, const OutcomeWords& words,
                               const Lexicon& lexicon);

/// True when the answer of a call that is to change something gives a member of the same name as an argument, at the first level of an
/// object, with another value: a price of 95 was asked for and 89 came back. Only yes and no, numbers and days count: texts may
/// be spelled otherwise, and figures may be there to change: of these, what the message `told` tells as it was asked for. Linear; any
/// thread.
[[nodiscard]] bool answers_otherwise(std::string_view input, std::string_view output, std::string_view told, const OutcomeWords& words);

}  // namespace runwarden::plugins
