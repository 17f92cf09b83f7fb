#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace runwarden::plugins {

/// The name of a tool whose call the message contains as text instead of the agent making it: `remember(fact="...")`, `{"name": ...,
/// "arguments": ...}`, `<tool_call>`. Empty when such a call has no name. Ignores messages with fenced code, where calls are only shown.
/// Linear.
[[nodiscard]] std::optional<std::string> written_call(std::string_view message);

}  // namespace runwarden::plugins
