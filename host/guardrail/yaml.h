// JSON as YAML for people. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace runwarden::guardrail {

// A valid JSON object in block style; lists of plain values stand on one line.
std::string yaml_of(std::string_view json);

}  // namespace runwarden::guardrail
