// Checks a detector's settings against its JSON Schema. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace runwarden::detect {

// Why the schema itself is invalid: it is not a JSON object, an object has a member twice, or it has a keyword that the host does not
// support (rw_info.config_schema_json lists the supported ones). Empty if it is valid.
std::string schema_fault(std::string_view schema_json);

// All faults of the settings, each with the JSON Pointer (RFC 6901) of the value; the code of an unknown one is kUnknownSetting. Empty if
// they are valid. The schema must be valid; an empty one accepts any object.
std::vector<FieldFault> settings_faults(std::string_view schema_json, std::string_view settings_json);

// Whether the schema declares the setting at the pointer. False if its mapping has declared members, but not this one.
bool declares(std::string_view schema_json, std::string_view pointer);

}  // namespace runwarden::detect
