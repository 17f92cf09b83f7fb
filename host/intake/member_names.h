// Finds the known member that an unknown member's name was probably meant for. Pure; any thread.
#pragma once

#include <string_view>

#include "intake/shape_reader.h"

namespace runwarden::intake {

// Recognizes another spelling (user_request_text), an alias (Shape::aliases) or a typo of one or two letters (userRequstText). Null if none
// matches. For a shape with `free_names`, typos do not count.
const Field* meant_field(const Shape& shape, std::string_view name);

}  // namespace runwarden::intake
