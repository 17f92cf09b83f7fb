#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace runwarden::plugins {

/// True when an output is only a note that its content was withheld ("<rows omitted by policy>", "[redacted]"): a short text in one pair of
/// brackets that contains one of `words`. Linear; any thread.
[[nodiscard]] bool is_withheld(std::string_view output, const std::vector<std::string>& words);

}  // namespace runwarden::plugins
