// Writes a draft as a Python function that needs only the standard library. Pure; any thread.
#pragma once

#include <string>

#include "guardrail/draft.h"

namespace runwarden::guardrail {

// The source of check(run) -> [{"name", "action", "say"}], which gives the same answers as Evaluator.
std::string python_of(const Draft& draft);

}  // namespace runwarden::guardrail
