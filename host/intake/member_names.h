// The member of a shape that an unknown member's name was probably meant for. Pure; any thread.
#pragma once

#include <string_view>

#include "intake/shape_reader.h"

namespace runwarden::intake {

// By another spelling (user_request_text), another word (Shape::aliases) or a slip of one or two letters (userRequstText); null:
// the name is near none. Of a shape with `free_names` only the other spellings and words count.
const Field* meant_field(const Shape& shape, std::string_view name);

}  // namespace runwarden::intake
