// Writes JSON as readable YAML. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace runwarden::guardrail {

// Expects a valid JSON object. Block style, with lists of plain values on one line.
std::string yaml_of(std::string_view json);

}  // namespace runwarden::guardrail
