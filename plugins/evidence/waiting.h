#pragma once

#include <string>
#include <string_view>

#include "common/run_view.h"
#include "evidence/outcome_words.h"

namespace runwarden::plugins {

/// True when a call's answer says that what it was for waits for a place or for somebody's decision: {"booking": {"status": "WAITLISTED"}}.
/// Only members that tell an outcome count, of the answer itself and of the objects in it; not a text that the call was made with.
/// Linear; any thread.
[[nodiscard]] bool is_waiting(const StepView& call, const OutcomeWords& words);

/// True when a message says so: in one of the words that such answers use. Linear; any thread.
[[nodiscard]] bool tells_waiting(std::string_view message, const OutcomeWords& words);

}  // namespace runwarden::plugins
