// Finds the JSON object in a model's text. Pure; any thread; linear.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace runwarden::opinion {

// The first object in the text that is valid JSON with at most `max_depth` levels. If the text ends with all members complete and only the
// object's closing bracket missing, adds the bracket. An object that breaks off earlier is not returned, because the rest is unknown.
std::optional<std::string> find_object(std::string_view text, int max_depth);

}  // namespace runwarden::opinion
