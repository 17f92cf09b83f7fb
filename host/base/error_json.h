// Writes an Error as JSON: the members that all error answers share. Pure; any thread.
#pragma once

#include "base/json_text.h"
#include "base/result.h"

namespace runwarden {

// Writes status, detail, code and, if the error has field faults, errors into the open object.
void write_error(JsonWriter& out, const Error& error);

}  // namespace runwarden
