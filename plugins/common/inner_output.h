#pragma once

#include <string>
#include <string_view>

#include "common/name_set.h"

namespace runwarden::plugins {

/// What an output holds inside one wrapping of a protocol or a harness: the text of `{"result": "Error: ..."}`,
/// `[{"type": "text", "text": "..."}]`, "HTTP 200 {...}", "[ERROR: ...]", "Output: ..." or "Tool 'search' executed.\nResult: ...". `names`:
/// members and labels that hold an answer. Empty when there is no such wrapping, or the output is longer than short outputs are. The view
/// points into `output` or `buffer`. Linear; any thread.
[[nodiscard]] std::string_view inner_output(std::string_view output, const NameSet& names, std::string& buffer);

/// An answer without the line with the status of HTTP before it: "HTTP 200 {...}". The view points into `output`. Any thread.
[[nodiscard]] std::string_view answer_body(std::string_view output);

/// The one text that a short answer contains besides what it repeats of the call's arguments: "Error fetching: 403 Client Error" for
/// `{"url": "https://...", "extracted_text": "Error fetching: 403 Client Error"}`, also behind "Result:". Whatever the member is called,
/// the call returned nothing else. Empty when there is no such text, or another value beside it. The view points into `output` or `buffer`.
/// Linear, except for the few members; any thread.
[[nodiscard]] std::string_view only_news(std::string_view input, std::string_view output, std::string& buffer);

}  // namespace runwarden::plugins
