#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/call_names.h"

namespace runwarden::plugins {

/// The name of a tool whose call the message contains as text instead of the agent making it: `remember(fact="...")`, `{"name": ...,
/// "arguments": ...}`, `<tool_call>`. Empty when such a call has no name. Ignores messages with fenced code, where calls are only shown.
/// Linear.
[[nodiscard]] std::optional<std::string> written_call(std::string_view message);

/// What a message tells that consists of calls as JSON values, which the agent wrote instead of making them: {"name": "write_file",
/// "arguments": {...}} {"name": "finish", "arguments": {"summary": "The script is saved."}}. These are the strings of several words, one a
/// line, but for those of the names' written members, which are contents. Empty for another message, and where fewer than two calls stand.
/// Linear in the message; beyond 64 values the rest is left out.
[[nodiscard]] std::string told_in_written_calls(std::string_view message, const CallNames& names);

}  // namespace runwarden::plugins
