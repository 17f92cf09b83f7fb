// Finds one value in JSON text that is known to be good, without building a tree. Pure; any thread.
#pragma once

#include <runwarden/detector.h>

#include <string_view>

#include "base/text_arena.h"

namespace runwarden::detect {

// True for a JSON Pointer (RFC 6901): "" or tokens that each begin with "/", "~" only as "~0" or "~1".
bool is_json_pointer(std::string_view text);

// What stands at a well-formed pointer; type RW_VALUE_NONE where there is nothing. Of members of one name the first counts.
// Texts are views into `json`, or into `arena` where escapes had to be resolved. Linear in `json`, no recursion.
rw_value json_find(std::string_view json, std::string_view pointer, TextArena& arena);

}  // namespace runwarden::detect
