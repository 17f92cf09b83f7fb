// How an Error stands in JSON: the members that every answer with a fault has in common. Pure; any thread.
#pragma once

#include "base/json_text.h"
#include "base/result.h"

namespace runwarden {

// Writes status, detail and code, and errors where there are faults of fields, into the object that is begun.
void write_error(JsonWriter& out, const Error& error);

}  // namespace runwarden
