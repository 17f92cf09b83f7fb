// Finds the JSON object in what a model wrote. Pure; any thread; linear.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace runwarden::opinion {

// The first object of the text that is valid JSON, of at most `max_depth` levels. One whose members are whole, where the text ends before
// the object's own bracket, is closed. One that breaks off earlier is none: what it would have said is not known.
std::optional<std::string> find_object(std::string_view text, int max_depth);

}  // namespace runwarden::opinion
