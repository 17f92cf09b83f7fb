#pragma once

#include <string_view>

namespace runwarden::plugins {

/// True when an output only says that the call was made ("You executed 'find_berths' successfully."): a few words around the tool's name,
/// without data. Any thread.
[[nodiscard]] bool only_acknowledges(std::string_view output, std::string_view tool);

}  // namespace runwarden::plugins
