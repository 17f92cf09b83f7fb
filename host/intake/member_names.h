// Finds the known member that an unknown member's name was probably meant for. Pure; any thread.
#pragma once

#include <string_view>

#include "intake/shape_reader.h"

namespace runwarden::intake {

// Shape::own_words of the metadata of runs, steps and events.
inline constexpr std::string_view kMetadataWords[] = {"mode", "models"};

// Recognizes another spelling (user_request_text), an alias (Shape::aliases) or a typo of one or two letters (userRequstText). Null if none
// matches. Shape::own_words are not typos.
const Field* meant_field(const Shape& shape, std::string_view name);

}  // namespace runwarden::intake
