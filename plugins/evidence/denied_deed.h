#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/lexicon.h"

namespace runwarden::plugins {

/// True when the output of a call says by a member of its own that the deed was not done: `"sent": false` from a tool that sends. The
/// member is at the first level of an object, its name the participle of a verb of one of the groups. Linear; any thread.
[[nodiscard]] bool denies_deed(std::string_view output, std::span<const std::uint16_t> groups, const Lexicon& lexicon);

}  // namespace runwarden::plugins
