// Checks a detector's settings against the JSON Schema that it carries. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace runwarden::detect {

// What is wrong with the schema itself: no JSON object, or a keyword that the host does not check (rw_info.config_schema_json lists
// those it does). Empty: nothing.
std::string schema_fault(std::string_view schema_json);

// Every fault of the settings, with the JSON Pointer (RFC 6901) of the value; empty when they are good. The schema is one without
// fault, or empty: any object will do.
std::vector<FieldFault> settings_faults(std::string_view schema_json, std::string_view settings_json);

}  // namespace runwarden::detect
