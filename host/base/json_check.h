// Whether a text is JSON, for those who keep or hand it on unread. Pure; any thread.
#pragma once

#include <string_view>

#include "base/result.h"

namespace runwarden {

// The same faults as parse_json().
Status check_json(std::string_view text, int max_depth);

}  // namespace runwarden
