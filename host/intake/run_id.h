// Validates a runId: 1 to 256 bytes of text without control characters. Pure; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"

namespace runwarden::intake {

// The fault, without a pointer; empty if the id is valid.
std::optional<FieldFault> run_id_fault(std::string_view id);

}  // namespace runwarden::intake
