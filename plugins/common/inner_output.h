#pragma once

#include <string>
#include <string_view>

#include "common/name_set.h"

namespace runwarden::plugins {

/// What an output holds inside one wrapping of a protocol or a harness: the text of `{"result": "Error: ..."}`,
/// `[{"type": "text", "text": "..."}]`, "[ERROR: ...]", "Output: ..." or "Tool 'search' executed.\nResult: ...". `names`: members and labels
/// that hold an answer. Empty when there is no such wrapping, or the output is longer than short outputs are. The view points into `output`
/// or `buffer`. Linear; any thread.
[[nodiscard]] std::string_view inner_output(std::string_view output, const NameSet& names, std::string& buffer);

}  // namespace runwarden::plugins
