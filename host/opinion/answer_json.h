// Finds the JSON object in what a model wrote. Pure; any thread; linear.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace runwarden::opinion {

struct FoundObject {
  std::string json;        // valid
  bool broke_off = false;  // it was not closed; what was open is closed here, or cut off where it cannot be
};

// The first object of the text that is valid JSON, of at most `max_depth` levels. Only the last one can have broken off.
std::optional<FoundObject> find_object(std::string_view text, int max_depth);

}  // namespace runwarden::opinion
