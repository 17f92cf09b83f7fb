// Finds one value in valid JSON text without building a tree. Pure; any thread.
#pragma once

#include <runwarden/detector.h>

#include <string_view>

#include "base/text_arena.h"

namespace runwarden::detect {

// True for a JSON Pointer (RFC 6901): "" or tokens that each begin with "/", with "~" only as "~0" or "~1".
bool is_json_pointer(std::string_view text);

// The value at a well-formed pointer; type RW_VALUE_NONE if there is none. The first of several members with the same name wins. Texts are
// views into `json`, or into `arena` if they contain escapes. Linear in `json`, no recursion.
rw_value json_find(std::string_view json, std::string_view pointer, TextArena& arena);

}  // namespace runwarden::detect
