// Checks that a text is JSON, for callers that store or forward it unparsed. Pure; any thread.
#pragma once

#include <string_view>

#include "base/result.h"

namespace runwarden {

// Reports the same faults as parse_json().
Status check_json(std::string_view text, int max_depth);

}  // namespace runwarden
