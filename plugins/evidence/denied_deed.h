#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/lexicon.h"

namespace runwarden::plugins {

/// True when the output of a call that is to change something says by a member of its own, at the first level of an object, that it did
/// not: `"sent": false` from a tool that sends, `"accepted": false` from any, `"result": "REJECTED"` from one that is not there to reject.
/// `groups` are of the tool's verbs, `failed_statuses` the values that say so. Linear; any thread.
[[nodiscard]] bool denies_deed(std::string_view output, std::span<const std::uint16_t> groups,
                               const std::vector<std::string>& failed_statuses, const Lexicon& lexicon);

}  // namespace runwarden::plugins
