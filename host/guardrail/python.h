// A draft as a Python function of the standard library alone. Pure; any thread.
#pragma once

#include <string>

#include "guardrail/draft.h"

namespace runwarden::guardrail {

// check(run) -> [{"name", "action", "say"}], which answers as the Evaluator does.
std::string python_of(const Draft& draft);

}  // namespace runwarden::guardrail
