#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/lexicon.h"

namespace runwarden::plugins {

/// The words of a vocabulary by which an answer denies.
struct DenyingWords {
  std::vector<std::string> failed_statuses;  // values: {"status": "rejected"}
  std::vector<std::string> errors;           // members that are there where the call failed: {"fehler": "..."}
};

/// True when the output of a call that is to change something says by a member of its own, at the first level of an object, that it did
/// not: `"sent": false` from a tool that sends, `"accepted": false` from any, `"result": "REJECTED"` from one that is not there to reject.
/// `groups` are of the tool's verbs. Linear; any thread.
[[nodiscard]] bool denies_deed(std::string_view output, std::span<const std::uint16_t> groups, const DenyingWords& words,
                               const Lexicon& lexicon);

}  // namespace runwarden::plugins
