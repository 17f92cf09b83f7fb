// Finds the known member that an unknown member's name was probably meant for. Pure; any thread.
#pragma once

#include <span>
#include <string_view>

#include "intake/shape.h"

namespace runwarden::intake {

// Shape::own_words of the metadata of runs, steps and events.
inline constexpr std::string_view kMetadataWords[] = {"mode", "models"};

// Recognizes another spelling (user_request_text), an alias (Shape::aliases) or a typo of one or two letters (userRequstText). Null if none
// matches. Shape::own_words are not typos.
const Field* meant_field(const Shape& shape, std::string_view name);

// The word that a value was probably meant for, in the same ways. Empty if none matches. The words are in lower case, with or without "_".
std::string_view meant_word(std::span<const std::string_view> words, std::string_view value);

}  // namespace runwarden::intake
